package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One call of a simulated application. */
final class SimCall {

    final long number;
    final SimMember member;
    final int key;
    final int weight;
    final boolean block;
    /** Nanoseconds; negative for none. */
    final long timeout;

    final long arrivedAt;
    /** On the clock of the member without the time it was stopped. */
    final long arrivedRunning;
    /** The least limit in effect since it came. */
    int leastLimit;

    boolean ended;
    boolean lost;

    @Nullable
    Permit permit;

    @Nullable
    CompletableFuture<Permit> future;

    SimCall(long number, SimMember member, int key, int weight, boolean block, long timeout, long now) {
        this.number = number;
        this.member = member;
        this.key = key;
        this.weight = weight;
        this.block = block;
        this.timeout = timeout;
        this.arrivedAt = now;
        this.arrivedRunning = member.process.runningTime();
        this.leastLimit = Integer.MAX_VALUE;
    }

    boolean isHeld() {
        return permit != null && permit.isHeld();
    }

    @Override
    public String toString() {
        return "call %d (%s %s x%d%s)"
                .formatted(
                        number,
                        member,
                        SimMember.name(key),
                        weight,
                        block ? timeout < 0 ? "" : " " + timeout / Weather.MILLI + " ms" : " try");
    }
}
