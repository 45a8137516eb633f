package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Board;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.LocalSlice;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.micro.LimitedApplication;
import io.github.distributedpermit.benchmark.micro.LimitedService;
import io.github.distributedpermit.benchmark.report.Mark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** What an annotation costs a call within one process: advice, core and the local backend, beside other annotations. */
public final class Annotations implements Scenario {

    private static final String LOAD = "one thread, limit 10, local backend";
    private static final String OURS = "@DistributedPermit";
    private static final String SPRING = "@ConcurrencyLimit";
    private static final String RESILIENCE4J = "@Bulkhead";
    private static final String OUR_STAGE = "@DistributedPermit, stage";
    private static final String THEIR_STAGE = "Bulkhead.decorateCompletionStage";
    private static final String OUR_MONO = "@DistributedPermit, Mono";
    private static final String THEIR_MONO = "BulkheadOperator, Mono";
    private static final String BARE = "floor: the proxied call";
    private static final String CLOCK = "floor: System.nanoTime";
    private static final int BATCH = 100;

    @Override
    public String title() {
        return "annotation";
    }

    @Override
    public void run(Bench bench) throws Exception {
        Path file = Files.createTempFile("benchmark", ".board");
        try (LimitedApplication application = LimitedApplication.start()) {
            Workload work = Workload.of(1, 1_000_000, Duration.ZERO, Duration.ofMillis(50));
            Board board = Board.open(file, 1, 1, 0);
            LimitedService service = application.service();
            Map<String, Slice> slices = new LinkedHashMap<>();
            slices.put(OURS, slice(OURS, service::ours, work, board));
            slices.put(SPRING, slice(SPRING, service::concurrencyLimit, work, board));
            slices.put(RESILIENCE4J, slice(RESILIENCE4J, service::bulkhead, work, board));
            slices.put(Cast.JUC, slice(Cast.JUC, service::semaphore, work, board));
            slices.put(BARE, slice(BARE, service::unlimited, work, board));
            slices.put(CLOCK, slice(CLOCK, Annotations::lookAtTheClock, work, board));
            report(bench, Duel.run(slices, 20, bench.effort().rounds(20, 120)), slices);
            // after the others, so that the compiler has seen nothing but them
            Map<String, Slice> later = laterWork(service, work, board);
            reportLaterWork(bench, Duel.run(later, 20, bench.effort().rounds(10, 120)), later);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** The same where the method returns before its work has ended; here that has always ended at once. */
    private static Map<String, Slice> laterWork(LimitedService service, Workload work, Board board) {
        Map<String, Slice> slices = new LinkedHashMap<>();
        slices.put(OUR_STAGE, slice(OUR_STAGE, () -> service.oursStage().join(), work, board));
        slices.put(
                THEIR_STAGE,
                slice(
                        THEIR_STAGE,
                        () -> service.bulkheadStage().toCompletableFuture().join(),
                        work,
                        board));
        slices.put(OUR_MONO, slice(OUR_MONO, () -> service.oursMono().block(), work, board));
        slices.put(THEIR_MONO, slice(THEIR_MONO, () -> service.bulkheadMono().block(), work, board));
        return slices;
    }

    /** What it says must matter, or the compiler leaves it out. */
    private static void lookAtTheClock() {
        if (System.nanoTime() == Long.MIN_VALUE) {
            throw new IllegalStateException("The clock stands at its very beginning");
        }
    }

    private static Slice slice(String name, Runnable call, Workload work, Board board) {
        Contender contender = new Calls(call);
        return new LocalSlice(name, contender, work, board, false);
    }

    private static void report(Bench bench, Duel duel, Map<String, Slice> slices) {
        Quartiles spring = duel.ratio(SPRING, OURS, SliceStats::perSecond);
        Quartiles resilience4j = duel.ratio(RESILIENCE4J, OURS, SliceStats::perSecond);
        Quartiles worse = spring.median() > resilience4j.median() ? spring : resilience4j;
        bench.report().row("annotated call", LOAD, "x the faster annotation", worse, Mark.atMost(2.2));
        bench.report().figure(LOAD, OURS, "x Resilience4j", resilience4j);
        reportNanos(bench, duel, slices);
    }

    private static void reportLaterWork(Bench bench, Duel duel, Map<String, Slice> slices) {
        Quartiles stage = duel.ratio(THEIR_STAGE, OUR_STAGE, SliceStats::perSecond);
        Quartiles mono = duel.ratio(THEIR_MONO, OUR_MONO, SliceStats::perSecond);
        bench.report().figure(LOAD, OUR_STAGE, "x Resilience4j", stage);
        bench.report().figure(LOAD, OUR_MONO, "x Resilience4j", mono);
        reportNanos(bench, duel, slices);
    }

    private static void reportNanos(Bench bench, Duel duel, Map<String, Slice> slices) {
        for (String name : slices.keySet()) {
            Quartiles nanos = duel.figure(name, stats -> 1e9 / stats.perSecond() / BATCH);
            bench.report().figure(LOAD, name, "ns per call", nanos);
        }
    }

    /** A limited call that takes and returns its permit itself; many at a time, for one is too short to be measured. */
    private record Calls(Runnable call) implements Contender {

        @Override
        public Gate gate(String key, int limit) {
            return new Gate() {
                @Override
                public Object enter() {
                    for (int i = 0; i < BATCH; i++) {
                        call.run();
                    }
                    return call;
                }

                @Override
                public void leave(Object pass) {
                    // each call has left already
                }
            };
        }

        @Override
        public void close() {
            // the application is closed by its owner
        }
    }
}
