package io.github.distributedpermit.harness.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Wants to run every millisecond, and notes when it could not: the machine had no time then, or the JVM stood still, and
 * nothing that was due in it can be blamed on the library.
 */
public final class Metronome extends Thread implements AutoCloseable {

    /** The process that starts the others. */
    private static final int MASTER = EventLog.MEMBERS - 1;

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path THIS_THREAD = Path.of("/proc/thread-self");
    private static final String PROCESSORS = "Cpus_allowed_list:";

    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LATE = TimeUnit.MILLISECONDS.toNanos(5);

    private final int member;
    private final EventLog log;
    private final OptionalInt processor;
    private volatile boolean over;

    private Metronome(int member, EventLog log, OptionalInt processor) {
        super("metronome");
        setDaemon(true);
        this.member = member;
        this.log = log;
        this.processor = processor;
    }

    /** For a process, on any processor: its JVM may stand still. */
    public static void startIn(int member, EventLog log) {
        new Metronome(member, log, OptionalInt.empty()).start();
    }

    /** For the machine, on each of its processors: one of them may stand still, with what it was to run. */
    public static List<Metronome> startOnEachProcessor(EventLog log) throws IOException {
        List<Metronome> started = new ArrayList<>();
        if (Files.isReadable(STATUS)) {
            for (int each : processors()) {
                started.add(new Metronome(MASTER, log, OptionalInt.of(each)));
            }
        }
        started.forEach(Thread::start);
        return started;
    }

    /** As in {@code 0-3,8}. */
    private static List<Integer> processors() throws IOException {
        List<Integer> all = new ArrayList<>();
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith(PROCESSORS)) {
                for (String range : line.substring(PROCESSORS.length()).trim().split(",", -1)) {
                    String[] ends = range.split("-", -1);
                    for (int each = Integer.parseInt(ends[0]);
                            each <= Integer.parseInt(ends[ends.length - 1]);
                            each++) {
                        all.add(each);
                    }
                }
            }
        }
        return all;
    }

    @Override
    public void run() {
        processor.ifPresent(Metronome::stayOn);
        long last = System.nanoTime();
        while (!over) {
            LockSupport.parkNanos(BEAT);
            long now = System.nanoTime();
            if (now - last > LATE) {
                log.stalled(member, last + BEAT, now);
            }
            last = now;
        }
    }

    private static void stayOn(int processor) {
        try {
            String thread = THIS_THREAD.toRealPath().getFileName().toString();
            new ProcessBuilder("taskset", "-pc", Integer.toString(processor), thread)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            // then it runs wherever it may
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        over = true;
    }
}
