/**
 * The advice behind {@link io.github.distributedpermit.DistributedPermit}: finds the annotation, checks it when a bean is
 * made, and takes and returns permits around calls. It knows the API only.
 */
@NullMarked
package io.github.distributedpermit.aop;

import org.jspecify.annotations.NullMarked;
