package io.github.distributedpermit.harness.history;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The observer: a file that all processes of a run have mapped. Each call has a record of fixed size, whose number comes
 * from a {@code getAndAdd}; each of its events is a {@code System.nanoTime()} in it, which on one Linux machine is one
 * clock for all processes. What was written stays when the process is killed. Thread-safe; a record is written by one
 * call.
 */
public final class EventLog {

    /** How many processes may take part in a run, over time. */
    public static final int MEMBERS = 1024;

    /** How many threads of a process may take part. */
    public static final int THREADS = 64;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int NEXT = 0;
    private static final int SEATS = 64;
    private static final int RECORDS = SEATS + MEMBERS * THREADS * Integer.BYTES;
    static final int RECORD = 96;

    private final MappedByteBuffer buffer;
    private final int capacity;

    private EventLog(MappedByteBuffer buffer, int capacity) {
        this.buffer = buffer;
        this.capacity = capacity;
    }

    /** Maps the file, making it if there is none. */
    public static EventLog open(Path file, int capacity) throws IOException {
        long size = RECORDS + (long) capacity * RECORD;
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
            mapped.order(ByteOrder.nativeOrder());
            return new EventLog(mapped, capacity);
        }
    }

    /** How many bytes of the file are in use. */
    public long bytes() {
        return RECORDS + (long) size() * RECORD;
    }

    /** Notes that a call is about to ask for a permit. */
    public CallNote asked(int member, int thread, int key, CallKind kind, long timeoutNanos) {
        int slot = (int) INT.getAndAdd(buffer, NEXT, 1);
        if (slot >= capacity) {
            throw new IllegalStateException("The history is full after " + capacity + " calls");
        }
        CallNote note = new CallNote(this, RECORDS + slot * RECORD);
        note.begin(member, thread, key, kind, timeoutNanos);
        INT.setVolatile(buffer, seat(member, thread), slot + 1);
        return note;
    }

    /** Notes that the process should have run from the one instant on, and ran at the other. */
    public void stalled(int member, long from, long to) {
        int slot = (int) INT.getAndAdd(buffer, NEXT, 1);
        if (slot < capacity) {
            new CallNote(this, RECORDS + slot * RECORD).stalled(member, from, to);
        }
    }

    private static int seat(int member, int thread) {
        return SEATS + (member * THREADS + thread) * Integer.BYTES;
    }

    /** How many calls have begun. */
    public int size() {
        return Math.min((int) INT.getVolatile(buffer, NEXT), capacity);
    }

    /** What is known of a call now. */
    public Call call(int slot) {
        return Call.read(this, RECORDS + slot * RECORD);
    }

    /** The calls noted from that slot on; without those whose process died before they had asked. */
    public List<Call> calls(int from) {
        int size = size();
        List<Call> calls = new ArrayList<>(size - from);
        for (int slot = from; slot < size; slot++) {
            Call call = call(slot);
            if (call.asked() != 0) {
                calls.add(call);
            }
        }
        return calls;
    }

    /** The last call of each thread of a process. */
    public List<Call> latest(int member) {
        List<Call> calls = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            int slot = (int) INT.getVolatile(buffer, seat(member, thread));
            if (slot > 0) {
                calls.add(call(slot - 1));
            }
        }
        return calls;
    }

    int integer(int at) {
        return (int) INT.getVolatile(buffer, at);
    }

    void integer(int at, int value) {
        INT.setVolatile(buffer, at, value);
    }

    long number(int at) {
        return (long) LONG.getVolatile(buffer, at);
    }

    void number(int at, long value) {
        LONG.setVolatile(buffer, at, value);
    }
}
