/** JVMs that tests start. */
@NullMarked
package io.github.distributedpermit.jvm;

import org.jspecify.annotations.NullMarked;
