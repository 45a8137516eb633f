package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One call of a simulated application. */
final class SimCall {

    record Passing(SimCall by, PermitToken token, long at) {}

    final long number;
    final SimMember member;
    final int key;
    final int weight;
    final int limit;
    /** {@code null} for none. */
    final @Nullable String group;

    final boolean block;
    /** Nanoseconds; negative for none. */
    final long timeout;

    final long arrivedAt;
    /** The same without its head start, which is its place in the order of calls. */
    final long queuedAt;
    /** On the clock of the member without the time it was stopped. */
    final long arrivedRunning;
    /** The least limit in effect since it came. */
    int leastLimit;

    boolean ended;
    boolean lost;

    /** The first later call that ended before this one, with a permit. */
    @Nullable
    Passing passing;

    @Nullable
    Permit permit;

    @Nullable
    CompletableFuture<Permit> future;

    SimCall(
            long number,
            SimMember member,
            int key,
            int weight,
            int limit,
            @Nullable String group,
            boolean block,
            long timeout,
            long headStart,
            long now) {
        this.number = number;
        this.member = member;
        this.key = key;
        this.weight = weight;
        this.limit = limit;
        this.group = group;
        this.block = block;
        this.timeout = timeout;
        this.arrivedAt = now;
        this.queuedAt = now - headStart;
        this.arrivedRunning = member.process.runningTime();
        this.leastLimit = Integer.MAX_VALUE;
    }

    /**
     * A call of the process with a later place has ended with a permit. This one may have been given its permit before: a future that waits
     * ends a moment after that, and one that finds an idle permit ends at once.
     */
    void passedBy(SimCall other, PermitToken token, long now) {
        if (passing == null) {
            passing = new Passing(other, token, now);
        }
    }

    /** Whether it has to be served before the other one. */
    boolean precedes(SimCall other) {
        return queuedAt < other.queuedAt || (queuedAt == other.queuedAt && number < other.number);
    }

    boolean isHeld() {
        return permit != null && permit.isHeld();
    }

    @Override
    public String toString() {
        return "call %d (%s %s x%d of %d%s)"
                .formatted(
                        number,
                        member,
                        SimMember.name(key),
                        weight,
                        limit,
                        block ? timeout < 0 ? "" : " " + timeout / Weather.MILLI + " ms" : " try");
    }
}
