/**
 * A real Redis or PostgreSQL server that the instances on this machine share, so that the sample needs nothing installed.
 * Not part of what an application needs: with {@code spring.data.redis.host} or {@code spring.datasource.url} nothing here
 * runs.
 */
@NullMarked
package io.github.distributedpermit.sample.server;

import org.jspecify.annotations.NullMarked;
