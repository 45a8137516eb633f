package io.github.distributedpermit.benchmark.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The threads of one process for one slice. */
public final class Crew {

    private static final long GRACE = TimeUnit.SECONDS.toMillis(1);
    private static final long PATIENCE = TimeUnit.SECONDS.toMillis(20);

    private final List<Thread> threads = new ArrayList<>();
    private final List<Caller> callers = new ArrayList<>();

    /**
     * Seats the threads; they start to call at {@code from} and ask no more from {@code until} on.
     *
     * @param process which of the workload's processes this is, from 0
     */
    public static Crew start(Board board, List<Gate> gates, Workload work, int process, long from, long until) {
        Crew crew = new Crew();
        for (int i = 0; i < work.threads(); i++) {
            int seat = process * work.threads() + i;
            Caller caller = new Caller(board, board.seat(seat), gates, work, from, until, seat);
            Thread thread = new Thread(caller, "caller-" + seat);
            thread.setDaemon(true);
            crew.callers.add(caller);
            crew.threads.add(thread);
        }
        crew.threads.forEach(Thread::start);
        return crew;
    }

    /** Waits until all have left. Who still waits for a permit a second after the end is interrupted. */
    public void join(long until) throws InterruptedException {
        long end = until + TimeUnit.MILLISECONDS.toNanos(GRACE);
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        }
        threads.forEach(Thread::interrupt);
        long last = end + TimeUnit.MILLISECONDS.toNanos(PATIENCE);
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(last - System.nanoTime())));
            if (thread.isAlive()) {
                throw new IllegalStateException(thread.getName() + " does not come back from its contender");
            }
        }
        for (Caller caller : callers) {
            Throwable failure = caller.failure();
            if (failure != null) {
                throw new IllegalStateException("A call failed: " + failure, failure);
            }
        }
    }
}
