/**
 * Permits in Consul: slots bound to the member's session, or the lock file of HashiCorp's own semaphore.
 *
 * <p>The classes by what they do, in the order of a claim:
 *
 * <ul>
 *   <li>{@code ConsulSnapshotStore} passes the calls of the layer to the member's {@code EventLoop}, to which all the
 *       others are confined.
 *   <li>{@code Membership} supplies the session; {@code Renewals}, {@code SessionLiveness} and {@code AdditionalSessions}
 *       care for it. {@code Session} has the fence that each transaction checks.
 *   <li>{@code KeyReader} reads a key and {@code KeyCommitter} commits a change of it; {@code KeyUse} has what the member
 *       remembers of the key between the two.
 *   <li>{@code KeyTree} is the content of a key: {@code SlotTree} or {@code LockFileTree}. {@code SlotPlan} and
 *       {@code LockFilePlan} make of it, and of a step, the operations of a transaction.
 *   <li>{@code Inbox} watches for notices of other members ({@code GrantNotice}, {@code ContentionNotice}).
 *   <li>{@code ConsulApi}, {@code ConsulHttp} and {@code Connections} talk to the agent, with {@code Json}.
 * </ul>
 */
@NullMarked
package io.github.distributedpermit.backend.consul;

import org.jspecify.annotations.NullMarked;
