package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.AsyncCrowd;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.LiveHeap;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.report.Mark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Thousands of calls that wait for few permits: whether one of them waits far longer than the others, and what they cost. */
public final class Tails implements Scenario {

    private static final int LIMIT = 10;
    private static final int CALLS = 5_000;
    private static final Duration HOLD = Duration.ofMillis(1);
    /** Twice what a call waits for, with five thousand of 1 ms and ten permits. */
    private static final Duration SETTLE = Duration.ofSeconds(2);

    private static final Duration LENGTH = Duration.ofSeconds(4);

    @Override
    public String title() {
        return "thousands of waiting calls";
    }

    @Override
    public void run(Bench bench) throws Exception {
        for (String name : List.of(Cast.OURS, Cast.RSEMAPHORE)) {
            try (Contender contender = Cast.make(name, bench.stores())) {
                measure(bench, name, contender);
            }
        }
    }

    private static void measure(Bench bench, String name, Contender contender) throws Exception {
        String load = "limit %d, %,d asynchronous calls, hold 1 ms".formatted(LIMIT, CALLS);
        List<Double> tails = new ArrayList<>();
        List<Double> speeds = new ArrayList<>();
        List<Double> failed = new ArrayList<>();
        long violations = 0;
        for (int round = 0; round < bench.effort().rounds(2); round++) {
            Gate gate = contender.gate("tails-" + round, LIMIT);
            AsyncCrowd.Result result = AsyncCrowd.run(gate, CALLS, LIMIT, HOLD, SETTLE, LENGTH);
            tails.add(result.longestByMean());
            speeds.add(result.perSecond());
            failed.add((double) result.failed());
            violations += result.violations();
        }
        bench.report().observed(Map.of(name, violations));
        if (Cast.isOurs(name)) {
            double bytes = bytesEach(contender.gate("tails-heap", LIMIT));
            bench.report().row("longest / mean wait", load, "", Quartiles.of(tails), Mark.atMost(1.2));
            bench.report().row("calls that failed", load, "", Quartiles.of(failed), Mark.atMost(0));
            bench.report().row("heap of a waiting call", load, "bytes", Quartiles.exactly(bytes), Mark.atMost(500));
        }
        bench.report().figure(load, name, "longest / mean wait", Quartiles.of(tails));
        bench.report().figure(load, name, "pairs per second", Quartiles.of(speeds));
        bench.report().figure(load, name, "calls that failed", Quartiles.of(failed));
    }

    /** With all permits taken, so that every call waits until it is measured. */
    private static double bytesEach(Gate gate) throws Exception {
        List<Object> taken = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            taken.add(gate.enter());
        }
        List<CompletableFuture<?>> waiting = new ArrayList<>(CALLS);
        long before = LiveHeap.bytes();
        for (int i = 0; i < CALLS; i++) {
            waiting.add(gate.enterLater().toCompletableFuture());
        }
        long after = LiveHeap.bytes();
        waiting.forEach(call -> call.whenComplete((pass, refused) -> {
            if (pass != null) {
                gate.leaveLater(pass);
            }
        }));
        for (Object pass : taken) {
            gate.leave(pass);
        }
        for (CompletableFuture<?> call : waiting) {
            call.get(30, TimeUnit.SECONDS);
        }
        return (double) (after - before) / CALLS;
    }
}
