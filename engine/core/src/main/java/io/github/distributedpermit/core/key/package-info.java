/**
 * Everything that happens to one key in this process, under that key's lock: who waits, what is granted and in use, which claim
 * is due, what failed claims mean. The state machine of the protocol; the simulation and the mutants test it. It knows the
 * process only as {@code KeyQueueHost}, and neither the calls nor the registry.
 *
 * <table>
 *   <caption>The classes by role</caption>
 *   <tr><th>events and their lock</th><td>{@code KeyQueue}, {@code KeyQueueEvents}, {@code Effects}, {@code Repairs},
 *       {@code KeyQueueTimer}, {@code Alarm}, {@code ProcessClock}, {@code IdleFastPath}</td></tr>
 *   <tr><th>state</th><td>{@code KeyQueueState}, which coordinates the following</td></tr>
 *   <tr><th>calls that wait</th><td>{@code WaiterQueue}, {@code FairGroups}, {@code FairGroup}, {@code Pace},
 *       {@code HeldBackCalls}, {@code Rejections}</td></tr>
 *   <tr><th>permits</th><td>{@code Ledger}, {@code Holders}, {@code OutageCalls}, {@code OutageCall}, {@code UnlimitedGrants},
 *       {@code Lingering}, {@code Confirmations}</td></tr>
 *   <tr><th>claims</th><td>{@code ClaimPlan}, {@code AnswerTime}, {@code SentClaim}, {@code SentClaims}, {@code ClaimFailures},
 *       {@code Backoff}</td></tr>
 *   <tr><th>what calls see</th><td>{@code ObservedCall}: first {@code Waiter}, then {@code Grant}; {@code Outcome}, {@code LossListeners}</td></tr>
 *   <tr><th>what operators see</th><td>{@code KeyUsers}, {@code KeyQueueVisitor}, {@code LimitNews}, {@code NameCounts}, {@code LossCause}</td></tr>
 *   <tr><th>values</th><td>{@code Policy}, {@code PermitName}, {@code Admission}, {@code PauseState}</td></tr>
 * </table>
 */
@NullMarked
package io.github.distributedpermit.core.key;

import org.jspecify.annotations.NullMarked;
