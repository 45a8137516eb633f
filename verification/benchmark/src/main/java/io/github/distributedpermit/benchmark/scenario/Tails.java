package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.AsyncCrowd;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Crowd;
import io.github.distributedpermit.benchmark.load.CrowdResult;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.ThreadCrowd;
import io.github.distributedpermit.benchmark.report.Mark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Thousands of calls that wait for few permits: whether one of them waits far longer than the others, and what they cost. */
public final class Tails implements Scenario {

    private static final int LIMIT = 10;
    private static final Duration HOLD = Duration.ofMillis(1);

    /** So many times what a call waits for, but not less than a second, so that one call of a thousand is several calls. */
    private static final int LENGTHS = 4;

    private static final long LEAST_MILLIS = 1_000;

    @Override
    public String title() {
        return "thousands of waiting calls";
    }

    @Override
    public void run(Bench bench) throws Exception {
        measure(bench, new AsyncCrowd(), 5_000);
        measure(bench, new ThreadCrowd(), 1_000);
        measure(bench, new ThreadCrowd(), 5_000);
    }

    private static void measure(Bench bench, Crowd crowd, int calls) throws Exception {
        for (String name : List.of(Cast.OURS, Cast.RSEMAPHORE)) {
            try (Contender contender = Cast.make(name, bench.stores())) {
                measure(bench, crowd, calls, name, contender);
            }
        }
    }

    private static void measure(Bench bench, Crowd crowd, int calls, String name, Contender contender)
            throws Exception {
        String load = "limit %d, %,d %s, hold 1 ms".formatted(LIMIT, calls, crowd.kind());
        long wait = HOLD.toMillis() * calls / LIMIT;
        Duration settle = Duration.ofMillis(2 * wait);
        Duration length = Duration.ofMillis(Math.max(LEAST_MILLIS, LENGTHS * wait));
        // of the peer one round shows how far its waits are apart, and has no mark
        int rounds =
                Cast.isOurs(name) ? bench.effort().rounds(2) : bench.effort().rounds(1);
        List<CrowdResult> results = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Gate gate = contender.gate("tails-" + crowd.kind() + calls + "-" + round, LIMIT);
            results.add(crowd.run(gate, calls, LIMIT, HOLD, settle, length));
        }
        long violations = results.stream().mapToLong(CrowdResult::violations).sum();
        bench.report().observed(Map.of(name, violations));
        double bytes = crowd.bytesEach(contender.gate("tails-heap-" + crowd.kind() + calls, LIMIT), calls, LIMIT);
        if (Cast.isOurs(name)) {
            row(bench, load, "longest / mean wait", "", of(results, CrowdResult::longestByMean), 1.3);
            row(bench, load, "calls that failed", "", of(results, CrowdResult::failed), 0);
            row(bench, load, "heap of a waiting call", "bytes", Quartiles.exactly(bytes), 300);
        }
        figure(bench, load, name, "longest / mean wait", of(results, CrowdResult::longestByMean));
        figure(bench, load, name, "mean wait ms", of(results, result -> result.mean() / 1e6));
        figure(bench, load, name, "wait ms, p99.9", of(results, result -> result.slow() / 1e6));
        figure(bench, load, name, "longest wait ms", of(results, result -> result.longest() / 1e6));
        figure(bench, load, name, "pairs per second", of(results, CrowdResult::perSecond));
        figure(bench, load, name, "calls that failed", of(results, CrowdResult::failed));
        figure(bench, load, name, "heap of a waiting call, bytes", Quartiles.exactly(bytes));
    }

    private static Quartiles of(List<CrowdResult> results, ToDoubleFunction<CrowdResult> what) {
        return Quartiles.of(results.stream().mapToDouble(what).toArray());
    }

    private static void row(Bench bench, String load, String metric, String unit, Quartiles value, double most) {
        bench.report().row(metric, load, unit, value, Mark.atMost(most));
    }

    private static void figure(Bench bench, String load, String name, String metric, Quartiles value) {
        bench.report().figure(load, name, metric, value);
    }
}
