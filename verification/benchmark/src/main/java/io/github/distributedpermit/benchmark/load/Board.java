package io.github.distributedpermit.benchmark.load;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The independent observer: a file that all processes of a run have mapped. It counts who is inside, per key, with atomic
 * operations that every process sees, so more calls inside than the limit are seen at the instant it happens, whatever
 * the contender believes. And it notes when each thread asked, entered, left and was done; {@code System.nanoTime} is one clock
 * for all processes of a Linux machine. Thread-safe; each {@link Seat} belongs to one thread.
 */
public final class Board {

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int VIOLATIONS = 0;
    private static final int INSIDE = 64;
    private static final int KEY_BYTES = 64;
    private static final int SEAT_HEADER = 64;
    static final int EVENT = 4 * Long.BYTES;

    private final MappedByteBuffer buffer;
    private final int keys;
    private final int seats;
    private final int events;

    private Board(MappedByteBuffer buffer, int keys, int seats, int events) {
        this.buffer = buffer;
        this.keys = keys;
        this.seats = seats;
        this.events = events;
    }

    /**
     * Maps the file, making it if there is none.
     *
     * @param keys how many keys are watched
     * @param seats how many threads take part
     * @param events how many calls of a thread are noted; later ones are only counted
     */
    public static Board open(Path file, int keys, int seats, int events) throws IOException {
        long size = INSIDE + (long) keys * KEY_BYTES + (long) seats * (SEAT_HEADER + (long) events * EVENT);
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
            mapped.order(ByteOrder.nativeOrder());
            return new Board(mapped, keys, seats, events);
        }
    }

    /** Resets everything. Call it only while no thread is inside and no process runs a slice. */
    public void clear() {
        LONG.setVolatile(buffer, VIOLATIONS, 0L);
        for (int key = 0; key < keys; key++) {
            INT.setVolatile(buffer, inside(key), 0);
            INT.setVolatile(buffer, inside(key) + Integer.BYTES, 0);
        }
        for (int seat = 0; seat < seats; seat++) {
            seat(seat).clear();
        }
    }

    /** A call is inside now. */
    void entered(int key, int limit) {
        int at = inside(key);
        int now = (int) INT.getAndAdd(buffer, at, 1) + 1;
        if (now > (int) INT.getVolatile(buffer, at + Integer.BYTES)) {
            most(at + Integer.BYTES, now);
        }
        if (now > limit) {
            LONG.getAndAdd(buffer, VIOLATIONS, 1L);
        }
    }

    private void most(int at, int now) {
        int seen = (int) INT.getVolatile(buffer, at);
        while (now > seen && !INT.compareAndSet(buffer, at, seen, now)) {
            seen = (int) INT.getVolatile(buffer, at);
        }
    }

    /** A call is about to give its permit back. */
    void leaving(int key) {
        INT.getAndAdd(buffer, inside(key), -1);
    }

    /** How many calls entered while as many as allowed were inside. */
    public long violations() {
        return (long) LONG.getVolatile(buffer, VIOLATIONS);
    }

    /** The most calls that were inside of any key at once. */
    public int most() {
        int most = 0;
        for (int key = 0; key < keys; key++) {
            most = Math.max(most, (int) INT.getVolatile(buffer, inside(key) + Integer.BYTES));
        }
        return most;
    }

    private static int inside(int key) {
        return INSIDE + key * KEY_BYTES;
    }

    /** How many threads take part. */
    public int seats() {
        return seats;
    }

    /** What one thread notes. */
    public Seat seat(int number) {
        int from = INSIDE + keys * KEY_BYTES + number * (SEAT_HEADER + events * EVENT);
        ByteBuffer own = buffer.slice(from, SEAT_HEADER + events * EVENT).order(ByteOrder.nativeOrder());
        return new Seat(own, events);
    }
}
