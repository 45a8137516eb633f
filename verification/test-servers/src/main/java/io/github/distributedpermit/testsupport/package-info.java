/** Real servers for tests. */
@NullMarked
package io.github.distributedpermit.testsupport;

import org.jspecify.annotations.NullMarked;
