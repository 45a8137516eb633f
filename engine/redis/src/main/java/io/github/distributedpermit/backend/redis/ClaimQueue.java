package io.github.distributedpermit.backend.redis;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The claims that wait for a command, in order of arrival. They are linked, so that adding one allocates nothing. Not
 * thread-safe: the {@link ClaimPipeline} guards it by its lock.
 *
 * <p>A claim is in at most one queue at a time, because the link is a field of the claim.
 */
final class ClaimQueue {

    /** The oldest; {@code null} if the queue is empty. */
    private @Nullable ClaimCall first;

    private @Nullable ClaimCall last;

    /** @param claim in no queue */
    void append(ClaimCall claim) {
        ClaimCall tail = last;
        if (tail == null) {
            first = claim;
        } else {
            tail.next = claim;
        }
        last = claim;
    }

    /** The oldest claim, cancelled or not; {@code null} if the queue is empty. */
    @Nullable
    ClaimCall peek() {
        return first;
    }

    /** Removes the oldest claim, whether it was cancelled or not. */
    @Nullable
    ClaimCall poll() {
        ClaimCall oldest = first;
        if (oldest != null) {
            first = oldest.next;
            oldest.next = null;
            if (first == null) {
                last = null;
            }
        }
        return oldest;
    }

    /**
     * Removes the oldest claims that still need an answer, at most so many. If all claims were cancelled, it returns one of
     * them: the cancelled claim then cancels the command.
     *
     * @param highestSent the highest sequence of a claim that was sent, of any key
     * @return in order of arrival, without those that a later one replaces; empty only if the queue was empty
     */
    List<ClaimCall> pollBatch(int most, long highestSent) {
        List<ClaimCall> due = new ArrayList<>();
        ClaimCall cancelled = null;
        ClaimCall rest = first;
        for (; rest != null && due.size() < most; rest = rest.next) {
            cancelled = rest;
            if (!rest.isDone() && !replaceEarlier(due, rest, highestSent)) {
                due.add(rest);
            }
        }
        List<ClaimCall> polled = due.isEmpty() && cancelled != null ? List.of(cancelled) : due;
        first = rest; // the queue changes only here, because an error may interrupt the loop above
        if (rest == null) {
            last = null;
        }
        return polled;
    }

    /** Puts the claim into the place of an earlier one of its key, if there is one that it {@linkplain ClaimCall#replaces replaces}. */
    private static boolean replaceEarlier(List<ClaimCall> due, ClaimCall claim, long highestSent) {
        for (int i = due.size() - 1; i >= 0; i--) {
            if (claim.replaces(due.get(i), highestSent)) {
                due.set(i, claim);
                return true;
            }
        }
        return false;
    }

    /**
     * Removes claims that were cancelled, up to the first that was not. Claims further back that were cancelled are
     * left out when they are polled.
     */
    void dropDone() {
        for (ClaimCall oldest = first; oldest != null && oldest.isDone(); oldest = first) {
            poll();
        }
    }
}
