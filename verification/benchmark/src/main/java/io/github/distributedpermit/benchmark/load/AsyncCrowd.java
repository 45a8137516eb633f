package io.github.distributedpermit.benchmark.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Asynchronous calls in a closed loop: each asks, holds for a while, gives back and asks again, and none has a thread. Confined
 * to the thread that runs it.
 */
public final class AsyncCrowd implements Crowd {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public String kind() {
        return "asynchronous calls";
    }

    @Override
    public CrowdResult run(Gate gate, int calls, int limit, Duration hold, Duration settle, Duration length)
            throws Exception {
        ScheduledExecutorService clock = new ScheduledThreadPoolExecutor(1);
        CrowdWaits waits = new CrowdWaits(calls, limit, settle, length);
        Loop loop = new Loop(gate, hold, waits, new CountDownLatch(calls), clock);
        try {
            for (int i = 0; i < calls; i++) {
                loop.ask(i);
            }
            if (!loop.ended.await(settle.plus(length).plus(PATIENCE).toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(loop.ended.getCount() + " calls do not end");
            }
        } finally {
            clock.shutdownNow();
        }
        return waits.result();
    }

    @Override
    public double bytesEach(Gate gate, int calls, int limit) throws Exception {
        List<Object> taken = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            taken.add(gate.enter());
        }
        List<CompletableFuture<?>> waiting = new ArrayList<>(calls);
        long before = LiveHeap.bytes();
        for (int i = 0; i < calls; i++) {
            waiting.add(gate.enterLater().toCompletableFuture());
        }
        long after = LiveHeap.bytes();
        waiting.forEach(call -> call.whenComplete((pass, refused) -> {
            if (pass != null) {
                gate.leaveLater(pass);
            }
        }));
        for (Object pass : taken) {
            gate.leave(pass);
        }
        for (CompletableFuture<?> call : waiting) {
            call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        return (double) (after - before) / calls;
    }

    private record Loop(
            Gate gate, Duration hold, CrowdWaits waits, CountDownLatch ended, ScheduledExecutorService clock) {

        void ask(int call) {
            long asked = System.nanoTime();
            if (waits.isOver(asked)) {
                ended.countDown();
                return;
            }
            waits.asked(call, asked);
            gate.enterLater().whenComplete((pass, refused) -> {
                if (refused != null) {
                    waits.refused(call);
                    clock.schedule(() -> ask(call), hold.toNanos(), TimeUnit.NANOSECONDS);
                } else {
                    waits.entered(call);
                    clock.schedule(() -> leave(call, pass), hold.toNanos(), TimeUnit.NANOSECONDS);
                }
            });
        }

        private void leave(int call, Object pass) {
            waits.leaving();
            gate.leaveLater(pass);
            ask(call);
        }
    }
}
