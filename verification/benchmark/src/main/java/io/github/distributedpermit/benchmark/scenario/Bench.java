package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Fleet;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.LocalSlice;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.report.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * What scenarios work with.
 *
 * @param effort how long to look
 * @param stores where the stores are
 * @param report where findings go
 */
public record Bench(Effort effort, Stores stores, Report report) {

    private static final UnaryOperator<Slice> PLAIN = slice -> slice;

    /** A duel in this process. */
    Duel duel(Workload work, List<String> names, boolean freshKeys, int events, int warmUp, int rounds)
            throws Exception {
        return duel(work, names, freshKeys, events, warmUp, rounds, Map.of());
    }

    /** A duel in this process after a long warm-up: at least so many rounds. */
    Duel warmDuel(Workload work, List<String> names, int events, int warmUp, int rounds) throws Exception {
        return warmDuel(work, names, events, warmUp, rounds, Map.of());
    }

    /** The same with meters around some slices. */
    Duel warmDuel(
            Workload work,
            List<String> names,
            int events,
            int warmUp,
            int rounds,
            Map<String, ? extends UnaryOperator<Slice>> meters)
            throws Exception {
        return duel(work, names, false, events, meters, slices -> Duel.runWarm(slices, warmUp, rounds));
    }

    /** A duel in this process, with meters around some slices. */
    Duel duel(
            Workload work,
            List<String> names,
            boolean freshKeys,
            int events,
            int warmUp,
            int rounds,
            Map<String, ? extends UnaryOperator<Slice>> meters)
            throws Exception {
        return duel(work, names, freshKeys, events, meters, slices -> Duel.run(slices, warmUp, rounds));
    }

    private Duel duel(
            Workload work,
            List<String> names,
            boolean freshKeys,
            int events,
            Map<String, ? extends UnaryOperator<Slice>> meters,
            Course course)
            throws Exception {
        Path file = Files.createTempFile("benchmark", ".board");
        Deque<Contender> open = new ArrayDeque<>();
        try {
            Board board = Board.open(file, work.keys(), work.seats(), events);
            Map<String, Slice> slices = new LinkedHashMap<>();
            for (String name : names) {
                Contender contender = Cast.make(name, stores);
                open.push(contender);
                Slice slice = new LocalSlice(name, contender, work, board, freshKeys);
                slices.put(name, meter(meters, name).apply(slice));
            }
            return observed(course.run(slices));
        } finally {
            Files.deleteIfExists(file);
            for (Contender contender : open) {
                contender.close();
            }
        }
    }

    /** A duel between fleets: each contender in all of the workload's processes at once. */
    Duel fleetDuel(
            Workload work,
            List<String> names,
            int events,
            int warmUp,
            int rounds,
            Map<String, ? extends UnaryOperator<Slice>> meters)
            throws Exception {
        try (Fleet fleet = new Fleet(stores, work.processes())) {
            return fleetDuel(fleet, work, names, events, warmUp, rounds, meters);
        }
    }

    /** The same in processes that run already. */
    Duel fleetDuel(
            Fleet fleet,
            Workload work,
            List<String> names,
            int events,
            int warmUp,
            int rounds,
            Map<String, ? extends UnaryOperator<Slice>> meters)
            throws Exception {
        Board board = fleet.assign(work, events);
        Map<String, Slice> slices = new LinkedHashMap<>();
        for (String name : names) {
            slices.put(name, meter(meters, name).apply(fleet.slice(name, work, board)));
        }
        return observed(Duel.run(slices, warmUp, rounds));
    }

    private static UnaryOperator<Slice> meter(Map<String, ? extends UnaryOperator<Slice>> meters, String name) {
        UnaryOperator<Slice> meter = meters.get(name);
        return meter == null ? PLAIN : meter;
    }

    /** How a duel is run. */
    private interface Course {

        Duel run(Map<String, Slice> slices) throws Exception;
    }

    private Duel observed(Duel duel) {
        report.observed(duel.violations());
        return duel;
    }
}
