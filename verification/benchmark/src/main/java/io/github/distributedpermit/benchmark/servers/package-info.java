/** Real servers, started on free ports of the loopback interface and stopped again. */
@NullMarked
package io.github.distributedpermit.benchmark.servers;

import org.jspecify.annotations.NullMarked;
