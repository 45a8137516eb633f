/**
 * One optimistic machine for stores without scripts: it queues and merges the claims of a key, reads the key or uses what
 * it knows of it, runs the {@linkplain io.github.distributedpermit.spi.step step}, and commits the difference by
 * check-and-set. A store implements {@link io.github.distributedpermit.spi.snapshot.SnapshotStore} and is joined as a
 * {@link io.github.distributedpermit.spi.snapshot.SnapshotPermitStore}.
 */
@NullMarked
package io.github.distributedpermit.spi.snapshot;

import org.jspecify.annotations.NullMarked;
