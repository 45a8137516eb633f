/**
 * The core: threads, waiting, time-outs and hand-over inside one process. It knows the API and the SPI, and neither Spring
 * nor any store. {@code docs/architecture.md} has the diagrams; this is the sheet at the top.
 *
 * <h2>The life of a claim</h2>
 * A call enters the {@code KeyQueue} of its key as a {@code Waiter}. No permit is idle, so {@code ClaimPlan} finds a claim
 * due, notes it in {@code SentClaims} and lowers the member's own count if the claim gives something back. After the lock is
 * free, {@code Effects} sends it. The answer comes back through {@code SentClaim} as another event of the queue:
 * {@code Ledger.apply} takes it in if it is newer than the last one and still valid, and {@code KeyQueueState.settle} serves
 * the head of the queue. If the answer fails or does not come, {@code ClaimFailures} has the claim repeated after a
 * {@code Backoff}, and ends the calls that have waited for the store for too long.
 *
 * <h2>The states of a waiter</h2>
 * Waiting, and then for ever one {@code Outcome}: granted, refused, failed or abandoned. One compare-and-set decides between
 * the queue that grants and the caller that gives up. A {@code Grant} is released by its call, or lost if the store can no
 * longer be relied on.
 *
 * <h2>Locks</h2>
 * One monitor per key, the {@code KeyQueue} itself, guards everything of that key. No store or user's code is ever called
 * under it; what leaves the lock goes into {@code Effects}. {@code KeyRegistry} is a concurrent map. An error may end an
 * event anywhere; the next event repairs the state ({@code KeyQueueEvents}, {@code Repairs}).
 *
 * <h2>Threads</h2>
 * The core has none of its own. Calls run on their caller's thread; answers and notifications on the store client's, with the
 * observer; time-outs, renewals and repetitions on the {@code Scheduler}'s. What else users register runs on two executors
 * that are passed in, one for the ends of asynchronous calls and one for listeners to losses.
 *
 * <h2>Where to begin</h2>
 * <table>
 *   <caption>The packages, each of which knows only those below it</caption>
 *   <tr><th>{@code engine}</th><td>{@code PermitEngine}, the entrance</td></tr>
 *   <tr><th>{@code call}</th><td>one call: {@code NamedCalls}, {@code ParkedCall}, {@code FutureCall}</td></tr>
 *   <tr><th>{@code member}</th><td>the process as a member of the store: {@code KeyRegistry}, session, shutdown</td></tr>
 *   <tr><th>{@code key}</th><td>one key under one lock: {@code KeyQueue} and its state machine</td></tr>
 *   <tr><th>{@code store}</th><td>what the process knows of the store: {@code StoreWatch}</td></tr>
 *   <tr><th>{@code jfr}</th><td>events for Java Flight Recorder</td></tr>
 *   <tr><th>this package</th><td>settings, and the scheduler that is passed in</td></tr>
 * </table>
 */
@NullMarked
package io.github.distributedpermit.core;

import org.jspecify.annotations.NullMarked;
