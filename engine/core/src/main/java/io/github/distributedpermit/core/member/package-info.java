/**
 * The process as one member of the store: the registry of its queues, its session, its shutdown, and the environment that is
 * passed in, and what operators read and order ({@code KeyOperations}). Implements what the queues need of the process ({@code KeyQueueHost}). It knows the queues, not the calls.
 */
@NullMarked
package io.github.distributedpermit.core.member;

import org.jspecify.annotations.NullMarked;
