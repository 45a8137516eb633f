package io.github.distributedpermit.benchmark.fleet;

import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Several processes that share a board and load one store together. One fleet can do several workloads one after the other, and
 * is warm from the second one on. Confined to the thread that made it.
 */
public final class Fleet implements AutoCloseable {

    private static final long LEAD = TimeUnit.MILLISECONDS.toNanos(60);

    private final List<Worker> workers = new ArrayList<>();
    private final List<Path> boards = new ArrayList<>();
    private final Set<String> warm = new HashSet<>();

    /** Starts so many processes. */
    public Fleet(Stores stores, int processes) throws IOException {
        for (int i = 0; i < processes; i++) {
            workers.add(new Worker(stores, i));
        }
    }

    /** One process. */
    public Worker worker(int number) {
        return workers.get(number);
    }

    /**
     * From now on the processes have this workload; if it is for fewer processes, the first of them.
     *
     * @param events how many calls of a thread are noted one by one
     */
    public Board assign(Workload work, int events) throws IOException {
        Path file = Files.createTempFile("benchmark", ".board");
        boards.add(file);
        Board board = Board.open(file, work.keys(), work.seats(), events);
        for (Worker worker : workers) {
            worker.assign(file, events, work);
        }
        done(workers);
        return board;
    }

    /** A contender in all processes of the workload at once, which must be the one that is assigned. */
    public Slice slice(String contender, Workload work, Board board) throws IOException {
        List<Worker> members = workers.subList(0, work.processes());
        if (warm.add(contender)) {
            all(workers, "warm", contender);
        }
        int assigned = boards.size();
        return number -> {
            board.clear();
            all(members, "ready", contender, contender + "-" + assigned + "-" + number);
            long from = System.nanoTime() + LEAD;
            all(members, "run", Long.toString(from));
            return SliceStats.of(board, work, from, from + work.slice().toNanos());
        };
    }

    private static void all(List<Worker> workers, String... command) throws IOException {
        for (Worker worker : workers) {
            worker.tell(command);
        }
        done(workers);
    }

    private static void done(List<Worker> workers) throws IOException {
        for (Worker worker : workers) {
            worker.done();
        }
    }

    @Override
    public void close() throws IOException {
        for (Worker worker : workers) {
            worker.close();
        }
        for (Path board : boards) {
            Files.deleteIfExists(board);
        }
    }
}
