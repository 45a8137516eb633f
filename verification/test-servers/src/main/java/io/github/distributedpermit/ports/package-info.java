/** Where servers of tests listen. */
@NullMarked
package io.github.distributedpermit.ports;

import org.jspecify.annotations.NullMarked;
