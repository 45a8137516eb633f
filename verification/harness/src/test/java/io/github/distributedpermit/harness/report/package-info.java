/** What was found. */
@NullMarked
package io.github.distributedpermit.harness.report;

import org.jspecify.annotations.NullMarked;
