/**
 * The snapshot layer: one optimistic machine for stores without scripts. It queues and merges the claims of a key, reads the
 * key or uses the snapshot it has, runs the {@linkplain io.github.distributedpermit.spi.step step}, and commits the difference by
 * check-and-set. A store implements {@link io.github.distributedpermit.spi.snapshot.SnapshotStore} and is joined as a
 * {@link io.github.distributedpermit.spi.snapshot.SnapshotPermitStore}.
 *
 * <p>The way of a claim, from top to bottom:
 *
 * <pre>
 * SnapshotPermitStore.claim   gives a ClaimRequest to the KeyWorker of the key
 * KeyWorker.add               puts it into the RequestQueue, which merges it with a claim that waits there
 * KeyWorker.pumpSoon          lets a return that no other member waits for wait until the scheduler is free: a claim may come with it
 * KeyWorker.pump              begins a CommitAttempt, once none is running and the member has a session
 * CommitAttempt.begin         commits on the last snapshot (SnapshotCache) if that promises all that the claim wants
 * CommitAttempt.read          otherwise reads the key
 * CommitAttempt.propose       runs the step with the position that ArrivalOrder has, and makes a PlannedCommit of it
 * SnapshotStore.commit        writes it by check-and-set, and notifies the members that the step has served
 * CommitAttempt.commit        goes on as the Commit demands: answers, serves the queue again, or reads after a ConflictPause
 * ClaimAnswer, LatestVersion  give the answer its sequence and version
 * KeyWorker.answered          keeps the snapshot, completes the claim, begins the next request
 * </pre>
 *
 * <p>A commit of unknown outcome fails its claim. {@code UnknownOutcome} keeps that claim, and the worker repeats it unless the
 * core sends another. What a store reports unasked ({@code StoreEvents}), such as a notification or the loss of the session, is an
 * event of the workers too. {@code IdleKeys} releases keys that are not used.
 *
 * <p>The layer has no thread of its own. The events of one key run one after the other, in the {@code Mailbox} of its worker, on
 * the thread that brings them. No lock is held while a store or the core is called.
 */
@NullMarked
package io.github.distributedpermit.spi.snapshot;

import org.jspecify.annotations.NullMarked;
