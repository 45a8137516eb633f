package io.github.distributedpermit.benchmark.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Threads in a closed loop: each asks, holds for a while, gives back and asks again. Confined to the thread that runs it. */
public final class ThreadCrowd implements Crowd {

    /** Enough for a call through a client of Redis; the default would reserve gigabytes for thousands of threads. */
    private static final long STACK = 256 * 1024;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Override
    public String kind() {
        return "threads";
    }

    @Override
    public CrowdResult run(Gate gate, int calls, int limit, Duration hold, Duration settle, Duration length)
            throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        // the threads exist before the time to settle begins
        CrowdWaits[] waits = new CrowdWaits[1];
        for (int i = 0; i < calls; i++) {
            int call = i;
            threads.add(start("waiter-" + call, () -> {
                start.await();
                loop(gate, hold, waits[0], call);
            }));
        }
        waits[0] = new CrowdWaits(calls, limit, settle, length);
        start.countDown();
        join(threads, settle.plus(length).plus(PATIENCE));
        return waits[0].result();
    }

    private static void loop(Gate gate, Duration hold, CrowdWaits waits, int call) throws InterruptedException {
        for (long now = System.nanoTime(); !waits.isOver(now); now = System.nanoTime()) {
            waits.asked(call, now);
            try {
                Object pass = gate.enter();
                waits.entered(call);
                idle(hold);
                waits.leaving();
                gate.leave(pass);
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                waits.refused(call);
                idle(hold);
            }
        }
    }

    private static void idle(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public double bytesEach(Gate gate, int calls, int limit) throws Exception {
        List<Object> taken = new ArrayList<>();
        for (int i = 0; i < limit; i++) {
            taken.add(gate.enter());
        }
        CountDownLatch start = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(calls);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            threads.add(start("heap-" + i, () -> {
                start.await();
                asked.countDown();
                gate.leave(gate.enter());
            }));
        }
        long before = LiveHeap.bytes();
        start.countDown();
        asked.await();
        awaitParked(threads);
        long after = LiveHeap.bytes();
        for (Object pass : taken) {
            gate.leave(pass);
        }
        join(threads, PATIENCE);
        return (double) (after - before) / calls;
    }

    private static void awaitParked(List<Thread> threads) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!threads.stream().allMatch(ThreadCrowd::isParked)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Not all calls wait for a permit");
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    private static Thread start(String name, Task task) {
        Thread thread = new Thread(
                null,
                () -> {
                    try {
                        task.run();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt(); // the crowd has given up on it
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                name,
                STACK);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void join(List<Thread> threads, Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        }
        long alive = threads.stream().filter(Thread::isAlive).count();
        threads.forEach(Thread::interrupt);
        if (alive > 0) {
            throw new IllegalStateException(alive + " threads do not come back from their contender");
        }
    }

    private interface Task {

        void run() throws Exception;
    }
}
