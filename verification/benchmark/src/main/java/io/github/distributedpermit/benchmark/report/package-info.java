/** The table of marks, as text, JSON and plots. */
@NullMarked
package io.github.distributedpermit.benchmark.report;

import org.jspecify.annotations.NullMarked;
