package io.github.distributedpermit.benchmark.load;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One thread of a closed loop: asks, enters, holds, leaves, and asks again. */
final class Caller implements Runnable {

    private final Board board;
    private final Seat seat;
    private final List<Gate> gates;
    private final int limit;
    private final long hold;
    private final long pause;
    private final long from;
    private final long until;
    private final SplittableRandom random;
    private volatile @Nullable Throwable failure;

    Caller(Board board, Seat seat, List<Gate> gates, Workload work, long from, long until, int number) {
        this.board = board;
        this.seat = seat;
        this.gates = gates;
        this.limit = work.limit();
        this.hold = work.hold().toNanos();
        this.pause = work.pause().toNanos();
        this.from = from;
        this.until = until;
        this.random = new SplittableRandom(from + number);
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    @Override
    public void run() {
        try {
            for (long left = from - System.nanoTime(); left > 0; left = from - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            for (long now = System.nanoTime(); now < until; now = System.nanoTime()) {
                call(now);
            }
        } catch (Exception | Error e) {
            if (System.nanoTime() < until) {
                failure = e;
            }
            // afterwards it has been interrupted in its wait, which stays open on the board
        }
    }

    private void call(long asked) throws Exception {
        int key = gates.size() == 1 ? 0 : random.nextInt(gates.size());
        Gate gate = gates.get(key);
        seat.waits(asked);
        Object pass = gate.enter();
        long entered = System.nanoTime();
        board.entered(key, limit);
        if (hold > 0 && entered < until) {
            idle(entered, hold);
        }
        board.leaving(key);
        long left = System.nanoTime();
        gate.leave(pass);
        long done = System.nanoTime();
        seat.noted(asked, entered, left, done);
        if (pause > 0 && done < until) {
            idle(done, pause);
        }
    }

    private void idle(long since, long nanos) {
        LockSupport.parkNanos(this, nanos);
        for (long left = since + nanos - System.nanoTime(); left > 0; left = since + nanos - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }
}
