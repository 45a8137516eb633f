/** What is measured, one class for each row of the table or a few that belong together. */
@NullMarked
package io.github.distributedpermit.benchmark.scenario;

import org.jspecify.annotations.NullMarked;
