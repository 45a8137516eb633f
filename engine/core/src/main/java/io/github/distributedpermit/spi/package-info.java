/**
 * What a store of permits has to do: one atomic operation, {@link io.github.distributedpermit.spi.PermitStore#claim}.
 */
@NullMarked
package io.github.distributedpermit.spi;

import org.jspecify.annotations.NullMarked;
