package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitContext;
import io.github.distributedpermit.aop.async.MinimumHolds.MinimumHold;
import io.github.distributedpermit.aop.async.PermitBundle;
import io.github.distributedpermit.aop.async.QuietRelease;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The permits of one call, bound to its thread on top of those that this is in already. For one thread. */
final class HeldPermits implements AutoCloseable {

    private final PermitContext.Scope ofThread;
    private @Nullable InterruptOnLoss interrupt;
    private @Nullable List<MinimumHold> minimumHolds;

    HeldPermits(PermitContext.Scope ofThread) {
        this.ofThread = ofThread;
    }

    /** Takes charge of the permit; one that it can't note goes back at once. */
    void add(Permit permit) {
        try {
            ofThread.add(permit);
        } catch (RuntimeException | Error e) {
            permit.close();
            throw e;
        }
        if (permit instanceof MinimumHold hold) {
            if (minimumHolds == null) {
                minimumHolds = new ArrayList<>(2);
            }
            minimumHolds.add(hold);
        }
    }

    /** Interrupts the thread when this permit is lost. */
    void interruptOnLoss(Permit permit) {
        if (interrupt == null) {
            interrupt = new InterruptOnLoss();
        }
        interrupt.follow(permit);
    }

    /** All permits are there, and the work begins: minimum holds count from here. */
    void begin() {
        if (minimumHolds != null) {
            minimumHolds.forEach(MinimumHold::begin);
        }
    }

    /** The permit whose loss has interrupted the call, which has reacted to an interrupt; {@code null} if there is none. */
    @Nullable
    Permit lost() {
        return interrupt == null ? null : interrupt.reacted();
    }

    /** Hands them over to whoever releases them when the work has ended, which may be on another thread. */
    PermitBundle detach() {
        endInterrupt();
        Deque<Permit> firstToLast = new ArrayDeque<>();
        for (Permit permit = ofThread.removeLast(); permit != null; permit = ofThread.removeLast()) {
            firstToLast.push(permit);
        }
        return new PermitBundle(firstToLast);
    }

    /** Returns all, last first; never throws, so that what the method threw or returned reaches its caller. */
    @Override
    public void close() {
        endInterrupt();
        for (Permit permit = ofThread.removeLast(); permit != null; permit = ofThread.removeLast()) {
            QuietRelease.of(permit);
        }
    }

    private void endInterrupt() {
        if (interrupt != null) {
            interrupt.end();
            interrupt = null;
        }
    }
}
