package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Calls made so deep in a stack that there may not be room for them. Confined to one thread. */
final class DeepCalls {

    private static final int STACK = 512 * 1024;
    private static final int RANGE = 700;
    private static final long PATIENCE = TimeUnit.SECONDS.toMillis(60);

    private final NamedPermits permits;
    private final int keys;
    private final Random random = new Random();
    private int deepest;
    private int overflows;

    DeepCalls(NamedPermits permits, int keys) {
        this.permits = permits;
        this.keys = keys;
    }

    /** Something that may wait. */
    @FunctionalInterface
    private interface Task {
        void run() throws InterruptedException;
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
        for (int call = 0; call < calls; call++) {
            measure();
            one(Math.max(1, deepest - random.nextInt(RANGE)), MemberMain.NAME + "-" + random.nextInt(keys));
        }
    }

    /** How deep the stack is, for which the code has to be as compiled as it is now. */
    private void measure() {
        deepest = 0;
        try {
            sink(Integer.MAX_VALUE, () -> {});
        } catch (StackOverflowError e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What can't be returned for want of stack is returned again where there is room. */
    private void one(int depth, String key) {
        Permit[] taken = {null};
        try {
            sink(depth, () -> {
                permits.tryAcquire(key).ifPresent(permit -> taken[0] = permit);
                if (taken[0] != null) {
                    taken[0].release();
                }
            });
        } catch (StackOverflowError e) {
            overflows++;
        } catch (PermitRejectedException | PermitBackendException e) {
            return; // there is none, or the store says nothing; both may be
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (taken[0] != null) {
                taken[0].release();
            }
        }
    }

    private int sink(int depth, Task task) throws InterruptedException {
        deepest++;
        if (depth == 0) {
            task.run();
            return 0;
        }
        return 1 + sink(depth - 1, task);
    }
}
