/** JMH benchmarks of what happens within one process. */
@NullMarked
package io.github.distributedpermit.benchmark.micro;

import org.jspecify.annotations.NullMarked;
