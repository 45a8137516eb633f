package io.github.distributedpermit.benchmark.load;

import java.nio.ByteBuffer;

/** What one thread notes on the {@link Board}: when it asked, entered, left and was done. Confined to it until the slice is over. */
public final class Seat {

    private static final int CALLS = 0;
    private static final int OPEN = 8;
    private static final int HEADER = 64;

    private final ByteBuffer buffer;
    private final int capacity;

    Seat(ByteBuffer buffer, int capacity) {
        this.buffer = buffer;
        this.capacity = capacity;
    }

    void clear() {
        buffer.putLong(CALLS, 0);
        buffer.putLong(OPEN, 0);
    }

    /** The thread waits from now on. */
    void waits(long since) {
        buffer.putLong(OPEN, since);
    }

    /**
     * A call is over.
     *
     * @param left when it began to give its permit back
     * @param done when it had given it back
     */
    void noted(long asked, long entered, long left, long done) {
        long calls = calls();
        if (calls < capacity) {
            int at = HEADER + (int) calls * Board.EVENT;
            buffer.putLong(at, asked);
            buffer.putLong(at + 8, entered);
            buffer.putLong(at + 16, left);
            buffer.putLong(at + 24, done);
        }
        buffer.putLong(CALLS, calls + 1);
        buffer.putLong(OPEN, 0);
    }

    /** How many calls are over. */
    public long calls() {
        return buffer.getLong(CALLS);
    }

    /** How many of them have been noted one by one. */
    int noted() {
        return (int) Math.min(calls(), capacity);
    }

    /** Since when the thread waits in vain; 0 if it does not. */
    long openSince() {
        return buffer.getLong(OPEN);
    }

    long asked(int call) {
        return buffer.getLong(HEADER + call * Board.EVENT);
    }

    long entered(int call) {
        return buffer.getLong(HEADER + call * Board.EVENT + 8);
    }

    long left(int call) {
        return buffer.getLong(HEADER + call * Board.EVENT + 16);
    }

    long done(int call) {
        return buffer.getLong(HEADER + call * Board.EVENT + 24);
    }
}
