package io.github.distributedpermit.benchmark.fleet;

import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Several processes that share a board and load one store together. Confined to the thread that made it. */
public final class Fleet implements AutoCloseable {

    private static final long LEAD = TimeUnit.MILLISECONDS.toNanos(60);

    private final Workload work;
    private final Path file;
    private final Board board;
    private final List<Worker> workers = new ArrayList<>();

    /**
     * Starts the processes.
     *
     * @param events how many calls of a thread are noted one by one
     */
    public Fleet(Stores stores, Workload work, int events) throws IOException {
        this.work = work;
        this.file = Files.createTempFile("benchmark", ".board");
        this.board = Board.open(file, work.keys(), work.seats(), events);
        for (int i = 0; i < work.processes(); i++) {
            workers.add(new Worker(stores, i, file, events, work));
        }
    }

    /** One process. */
    public Worker worker(int number) {
        return workers.get(number);
    }

    /** A contender in all of them at once. */
    public Slice slice(String contender) throws IOException {
        all("warm", contender);
        return number -> {
            board.clear();
            all("ready", contender, contender + "-" + number);
            long from = System.nanoTime() + LEAD;
            all("run", Long.toString(from));
            return SliceStats.of(board, work, from, from + work.slice().toNanos());
        };
    }

    private void all(String... command) throws IOException {
        for (Worker worker : workers) {
            worker.tell(command);
        }
        for (Worker worker : workers) {
            worker.done();
        }
    }

    @Override
    public void close() throws IOException {
        for (Worker worker : workers) {
            worker.close();
        }
        Files.deleteIfExists(file);
    }
}
