/**
 * A real Redis server that the instances on this machine share, so that the sample needs nothing installed. Not part of
 * what an application needs: with {@code spring.data.redis.host} nothing here runs.
 */
@NullMarked
package io.github.distributedpermit.sample.redis;

import org.jspecify.annotations.NullMarked;
