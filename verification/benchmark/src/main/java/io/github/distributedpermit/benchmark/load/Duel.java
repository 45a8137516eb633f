package io.github.distributedpermit.benchmark.load;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * Slices of several contenders in turn, the order rotated from round to round, so that whatever disturbs the machine
 * disturbs all of them alike. What counts is the ratio within a round. Confined to one thread.
 */
public final class Duel {

    /** How far the speeds of two windows may be apart to agree. */
    private static final double AGREEMENT = 0.05;

    private final Map<String, List<SliceStats>> results = new LinkedHashMap<>();
    private final List<String> order;

    private Duel(Map<String, Slice> slices) {
        order = new ArrayList<>(slices.keySet());
        order.forEach(name -> results.put(name, new ArrayList<>()));
    }

    /**
     * Runs the slices, after a warm-up that ends for each contender when its last two windows agree. A short warm-up flatters the
     * lighter client, whose code is compiled sooner. A contender that is steady leaves the warm-up, since on a shared machine some
     * window of one of them nearly always differs, and all would warm up for the longest time.
     *
     * @param least the least rounds of the warm-up; the most are twice as many
     */
    public static Duel runWarm(Map<String, Slice> slices, int least, int rounds) throws Exception {
        Duel warmUp = new Duel(slices);
        warmUp.perform(slices, -least, 0);
        int window = Math.max(1, least / 3);
        for (int done = least; done + window <= 2 * least; done += window) {
            warmUp.order.removeIf(name -> warmUp.isSteady(name, window));
            warmUp.perform(slices, -window, 0);
        }
        return run(slices, 0, rounds);
    }

    /** The rounds of several duels of the same contenders. */
    public static Duel of(List<Duel> duels) {
        Duel all = new Duel(Map.of());
        duels.forEach(duel -> duel.results.forEach((name, stats) ->
                all.results.computeIfAbsent(name, absent -> new ArrayList<>()).addAll(stats)));
        return all;
    }

    /** Whether the speed in the last window is that of the window before it. */
    private boolean isSteady(String name, int window) {
        List<SliceStats> stats = of(name);
        double last = speed(stats, stats.size() - window, window);
        double before = speed(stats, stats.size() - 2 * window, window);
        return Math.abs(last / before - 1) <= AGREEMENT;
    }

    private static double speed(List<SliceStats> stats, int from, int count) {
        return Quartiles.of(stats.subList(from, from + count).stream()
                        .map(SliceStats::perSecond)
                        .toList())
                .median();
    }

    /**
     * Runs the slices.
     *
     * @param warmUp rounds that are thrown away first
     */
    public static Duel run(Map<String, Slice> slices, int warmUp, int rounds) throws Exception {
        Duel duel = new Duel(slices);
        duel.perform(slices, -warmUp, 0);
        duel.results.values().forEach(List::clear);
        duel.perform(slices, 0, rounds);
        return duel;
    }

    private void perform(Map<String, Slice> slices, int from, int until) throws Exception {
        for (int round = from; round < until; round++) {
            for (String name : order) {
                of(name).add(Objects.requireNonNull(slices.get(name)).run(round));
            }
            Collections.rotate(order, 1);
        }
    }

    /** What a contender's slices came to, by round. */
    public List<SliceStats> of(String name) {
        return results.getOrDefault(name, List.of());
    }

    /** A figure of one contender. */
    public Quartiles figure(String name, ToDoubleFunction<SliceStats> what) {
        return Quartiles.of(of(name).stream().mapToDouble(what).toArray());
    }

    /** The ratio of two contenders' figures, round by round. */
    public Quartiles ratio(String name, String peer, ToDoubleFunction<SliceStats> what) {
        List<SliceStats> ours = of(name);
        List<SliceStats> theirs = of(peer);
        double[] ratios = new double[Math.min(ours.size(), theirs.size())];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = what.applyAsDouble(ours.get(i)) / what.applyAsDouble(theirs.get(i));
        }
        return Quartiles.of(ratios);
    }

    /** How often the limit was broken, by contender. */
    public Map<String, Long> violations() {
        Map<String, Long> violations = new LinkedHashMap<>();
        results.forEach((name, stats) -> violations.put(
                name, stats.stream().mapToLong(SliceStats::violations).sum()));
        return violations;
    }
}
