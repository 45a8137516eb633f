/** The command that measures distributed-permit beside its peers. */
@NullMarked
package io.github.distributedpermit.benchmark;

import org.jspecify.annotations.NullMarked;
