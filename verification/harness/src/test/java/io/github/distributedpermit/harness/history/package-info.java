/** The observer: what every call of every process did, in one file that outlives them all; shares no code with the library. */
@NullMarked
package io.github.distributedpermit.harness.history;

import org.jspecify.annotations.NullMarked;
