package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Calls made so deep in a stack that there may not be room for them. Confined to one thread. */
final class DeepCalls {

    private static final int STACK = 512 * 1024;
    private static final int RANGE = 700;
    private static final Duration WAIT = Duration.ofMillis(200);
    private static final long PATIENCE = TimeUnit.SECONDS.toMillis(60);

    private final NamedPermits permits;
    private final int keys;
    private final Random random = new Random();
    private int deepest;
    private int overflows;
    private @Nullable Permit taken;

    DeepCalls(NamedPermits permits, int keys) {
        this.permits = permits;
        this.keys = keys;
    }

    /** Makes so many. Answers how many stacks overflowed. */
    String make(int calls) throws InterruptedException {
        Thread thread = new Thread(null, () -> each(calls), "deep", STACK);
        thread.setDaemon(true);
        thread.start();
        thread.join(PATIENCE);
        return thread.isAlive() ? "failed: a deep call did not come back" : "overflowed " + overflows;
    }

    private void each(int calls) {
        one(1, MemberMain.NAME + "-0"); // so that all code is linked before there is no room for that
        for (int call = 0; call < calls; call++) {
            measure();
            one(Math.max(1, deepest - random.nextInt(RANGE)), MemberMain.NAME + "-" + random.nextInt(keys));
        }
    }

    /** How deep the stack is, for which the code has to be as compiled as it is now. */
    private void measure() {
        deepest = 0;
        try {
            sink(Integer.MAX_VALUE, null);
        } catch (StackOverflowError e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What can't be returned for want of stack is returned again where there is room. */
    private void one(int depth, String key) {
        taken = null;
        try {
            sink(depth, key);
        } catch (StackOverflowError e) {
            overflows++;
        } catch (PermitRejectedException | PermitBackendException e) {
            return; // there is none, or the store says nothing; both may be
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            Permit permit = taken;
            if (permit != null) {
                permit.release();
            }
        }
    }

    /** Takes and returns a permit at that depth, without a lambda, whose call might be what there is no room for. */
    private int sink(int depth, @Nullable String key) throws InterruptedException {
        deepest++;
        if (depth == 0 && key != null) {
            Permit permit = permits.acquire(PermitRequest.of(key).withTimeout(WAIT));
            taken = permit;
            permit.release();
            return 0;
        }
        return 1 + sink(depth - 1, key);
    }
}
