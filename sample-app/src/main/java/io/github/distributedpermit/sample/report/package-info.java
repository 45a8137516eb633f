/**
 * The service: reports, the limited method that exports them, and what a caller is told when there was no permit.
 */
@NullMarked
package io.github.distributedpermit.sample.report;

import org.jspecify.annotations.NullMarked;
