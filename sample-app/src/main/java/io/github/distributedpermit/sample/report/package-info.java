/**
 * The service: reports, the limited method that exports them, and the response to a caller that got no permit.
 */
@NullMarked
package io.github.distributedpermit.sample.report;

import org.jspecify.annotations.NullMarked;
