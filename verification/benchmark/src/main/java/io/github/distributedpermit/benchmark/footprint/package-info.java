/** Small applications in a JVM of their own, with and without this library, to compare what it adds. */
@NullMarked
package io.github.distributedpermit.benchmark.footprint;

import org.jspecify.annotations.NullMarked;
