package io.github.distributedpermit.benchmark.load;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A slice in this process alone. Confined to one thread. */
public final class LocalSlice implements Slice {

    private static final long LEAD = TimeUnit.MILLISECONDS.toNanos(5);

    /** A slice that does not count need not be longer: this process has run the same code before in most cases. */
    private static final long WARM_UP = TimeUnit.MILLISECONDS.toNanos(500);

    private final String name;
    private final Contender contender;
    private final Workload work;
    private final Board board;
    private final boolean freshKeys;
    private List<Gate> gates = List.of();

    /**
     * Runs the contender.
     *
     * @param freshKeys whether each slice begins with unused keys; otherwise all slices share them
     */
    public LocalSlice(String name, Contender contender, Workload work, Board board, boolean freshKeys) {
        this.name = name;
        this.contender = contender;
        this.work = work;
        this.board = board;
        this.freshKeys = freshKeys;
    }

    @Override
    public SliceStats run(int number) throws Exception {
        board.clear();
        if (freshKeys || gates.isEmpty()) {
            gates = gates(contender, freshKeys ? name + "-" + number : name, work);
        }
        long from = System.nanoTime() + LEAD;
        long until = from
                + (number < 0
                        ? Math.min(work.slice().toNanos(), WARM_UP)
                        : work.slice().toNanos());
        Crew.start(board, gates, work, 0, from, until).join(until);
        return SliceStats.of(board, work, from, until);
    }

    /** The semaphores of a workload. */
    public static List<Gate> gates(Contender contender, String key, Workload work) throws Exception {
        List<Gate> gates = new ArrayList<>();
        for (int i = 0; i < work.keys(); i++) {
            gates.add(contender.gate(key + "-" + work.limit() + "-" + i, work.limit()));
        }
        return gates;
    }
}
