/** An example: a complete store on an embedded database, on the snapshot layer. Not shipped. */
@NullMarked
package io.github.distributedpermit.backend.h2;

import org.jspecify.annotations.NullMarked;
