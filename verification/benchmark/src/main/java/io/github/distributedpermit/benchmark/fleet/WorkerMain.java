package io.github.distributedpermit.benchmark.fleet;

import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Crew;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.LocalSlice;
import io.github.distributedpermit.benchmark.load.Workload;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One process of a fleet: reads commands from standard input, tab-separated and one to a line, and answers each
 * with one line. Ends when its input ends, so none outlives the run.
 */
public final class WorkerMain {

    private static final long WARM_UP = TimeUnit.MILLISECONDS.toNanos(2_500);
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(20);

    private final Stores stores;
    private final int process;
    private final Map<String, Contender> contenders = new ConcurrentHashMap<>();
    private @Nullable Assignment assigned;
    private List<Gate> gates = List.of();

    private WorkerMain(Stores stores, int process) {
        this.stores = stores;
        this.process = process;
    }

    /** Arguments: stores and number of this process. */
    public static void main(String[] args) throws Exception {
        new WorkerMain(Stores.parse(args[0]), Integer.parseInt(args[1])).serve();
        Runtime.getRuntime().halt(0);
    }

    /** A workload, and where its calls are noted. */
    private record Assignment(Workload work, Board board) {}

    /** Board, events, threads, processes, keys, limit, hold, pause and slice in us. */
    private static Assignment assignment(String[] command) throws IOException {
        Workload work = new Workload(
                Integer.parseInt(command[3]),
                Integer.parseInt(command[4]),
                Integer.parseInt(command[5]),
                Integer.parseInt(command[6]),
                micros(command[7]),
                micros(command[8]),
                micros(command[9]));
        Board board = Board.open(Path.of(command[1]), work.keys(), work.seats(), Integer.parseInt(command[2]));
        return new Assignment(work, board);
    }

    private Assignment assigned() {
        return Objects.requireNonNull(assigned, "A workload has to be assigned first");
    }

    private Workload work() {
        return assigned().work();
    }

    private static Duration micros(String number) {
        return Duration.ofNanos(Long.parseLong(number) * 1000);
    }

    private void serve() throws IOException {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                obey(line.split("\t", -1));
                out.println("ok");
            } catch (Exception | Error e) {
                out.println("failed: " + e);
            }
        }
    }

    private void obey(String[] command) throws Exception {
        switch (command[0]) {
            case "assign" -> assigned = assignment(command);
            case "ready" -> gates = LocalSlice.gates(contender(command[1]), command[2], work());
            case "run" -> run(Long.parseLong(command[1]));
            case "warm" -> warm(command[1]);
            case "hold" ->
                contender(command[1]).gate(command[2], work().limit()).enter();
            case "wait" -> waitFor(command[1], command[2]);
            default -> throw new IllegalArgumentException("No such command: " + command[0]);
        }
    }

    private Contender contender(String name) throws Exception {
        Contender known = contenders.get(name);
        if (known == null) {
            known = Cast.make(name, stores);
            contenders.put(name, known);
        }
        return known;
    }

    /**
     * A cold process on a busy machine may need longer for its first call than the contender has patience; and code that
     * runs a few hundred times a second would be interpreted for most of a slice. So each process calls without competition
     * first, and then all of them compete for one permit without holding it: otherwise the code that passes a permit to
     * another process, which no other call runs, would be cold where it is measured.
     */
    private void warm(String name) throws Exception {
        Gate own = contender(name).gate("warm-" + process, work().limit());
        long deadline = System.nanoTime() + PATIENCE;
        boolean answered = false;
        while (!answered) {
            try {
                own.leave(own.enter());
                answered = true;
            } catch (RuntimeException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
        loop(own);
        loop(contender(name).gate("warm", 1));
    }

    private static void loop(Gate gate) throws Exception {
        long end = System.nanoTime() + WARM_UP;
        while (System.nanoTime() < end) {
            gate.leave(gate.enter());
        }
    }

    private void run(long from) throws InterruptedException {
        long until = from + work().slice().toNanos();
        Crew.start(assigned().board(), gates, work(), process, from, until).join(until);
    }

    /** Waits on another thread, until this process ends. */
    private void waitFor(String name, String key) throws Exception {
        Gate gate = contender(name).gate(key, work().limit());
        Thread waiter = new Thread(() -> {
            try {
                gate.enter();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        waiter.setDaemon(true);
        waiter.start();
    }
}
