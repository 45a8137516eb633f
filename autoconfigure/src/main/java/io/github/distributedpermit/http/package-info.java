/** Limits of outgoing HTTP requests: for {@code RestClient}, {@code RestTemplate}, {@code WebClient} and Boot's HTTP service groups. */
@NullMarked
package io.github.distributedpermit.http;

import org.jspecify.annotations.NullMarked;
