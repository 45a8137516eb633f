/**
 * One call, from the request of a user to its permit or exception: the calls of a name, the two ways to wait (parked, or with a
 * future), and what an outcome means for the caller and the observer. It knows the queues of the keys and the member.
 */
@NullMarked
package io.github.distributedpermit.core.call;

import org.jspecify.annotations.NullMarked;
