/** Real Consul servers for tests: found or fetched, started on free ports of the loopback interface. */
@NullMarked
package io.github.distributedpermit.consulserver;

import org.jspecify.annotations.NullMarked;
