package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Fleet;
import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.ours.OurContender;
import io.github.distributedpermit.benchmark.report.Mark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** {@code kill -9}: of a holder, and of processes that are queued before a live one. */
public final class Crash implements Scenario {

    private static final int KEYS = 8;
    private static final int DEAD = 4;
    private static final long PATIENCE_SECONDS = 30;

    @Override
    public String title() {
        return "crash";
    }

    @Override
    public void run(Bench bench) throws Exception {
        String load = "kill -9 of a holder, lease 3 s";
        Quartiles ours = holderDies(bench, Cast.OURS_SHORT);
        bench.report()
                .row("permits usable again", load, "s", ours, Mark.atMost(Cast.SHORT_LEASE.toMillis() / 1000.0 + 0.5));
        bench.report().figure(load, Cast.OURS_SHORT, "s", ours);
        if (bench.effort().isFull()) {
            bench.report().figure(load, Cast.EXPIRABLE_SHORT, "s", holderDies(bench, Cast.EXPIRABLE_SHORT));
        }
        waitersDie(bench);
    }

    private static Workload workload(int processes) {
        return Workload.of(1, 1, Duration.ZERO, Duration.ofSeconds(1)).in(processes);
    }

    /** Seconds from the death of a holder until another process has its permit. */
    private static Quartiles holderDies(Bench bench, String name) throws Exception {
        try (Fleet fleet = new Fleet(bench.stores(), 1);
                Contender survivor = Cast.make(name, bench.stores())) {
            fleet.assign(workload(1), 0);
            List<CompletableFuture<Long>> entered = new ArrayList<>();
            fleet.worker(0).tell("warm", name);
            fleet.worker(0).done();
            for (int i = 0; i < KEYS; i++) {
                fleet.worker(0).tell("hold", name, "crash-" + i);
                fleet.worker(0).done();
            }
            for (int i = 0; i < KEYS; i++) {
                entered.add(enter(survivor.gate("crash-" + i, 1)));
            }
            TimeUnit.MILLISECONDS.sleep(300);
            long killed = System.nanoTime();
            fleet.worker(0).kill();
            double[] seconds = new double[KEYS];
            for (int i = 0; i < KEYS; i++) {
                seconds[i] = (entered.get(i).get(PATIENCE_SECONDS, TimeUnit.SECONDS) - killed) / 1e9;
            }
            return Quartiles.of(seconds);
        }
    }

    /** Four processes at the head of the queue are killed; then the permit becomes free. */
    private static void waitersDie(Bench bench) throws Exception {
        double[] millis = new double[KEYS];
        try (Fleet fleet = new Fleet(bench.stores(), DEAD);
                OurContender holder = (OurContender) Cast.make(Cast.OURS, bench.stores());
                OurContender survivor = (OurContender) Cast.make(Cast.OURS, bench.stores())) {
            fleet.assign(workload(DEAD), 0);
            for (int dead = 0; dead < DEAD; dead++) {
                fleet.worker(dead).tell("warm", Cast.OURS);
                fleet.worker(dead).done();
            }
            List<Object> passes = new ArrayList<>();
            List<CompletableFuture<Long>> entered = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                String key = "dead-in-line-" + i;
                passes.add(holder.gate(key, 1).enter());
                for (int dead = 0; dead < DEAD; dead++) {
                    fleet.worker(dead).tell("wait", Cast.OURS, key);
                    fleet.worker(dead).done();
                }
                holder.awaitWaiting(key, DEAD);
                entered.add(enter(survivor.gate(key, 1)));
                holder.awaitWaiting(key, DEAD + 1);
            }
            for (int dead = 0; dead < DEAD; dead++) {
                fleet.worker(dead).kill();
            }
            for (int i = 0; i < KEYS; i++) {
                long released = System.nanoTime();
                holder.gate("dead-in-line-" + i, 1).leave(passes.get(i));
                millis[i] = (entered.get(i).get(PATIENCE_SECONDS, TimeUnit.SECONDS) - released) / 1e6;
            }
        }
        bench.report()
                .row(
                        "four killed waiters",
                        "kill -9 of four waiting processes",
                        "ms",
                        Quartiles.of(millis),
                        Mark.atMost(100));
    }

    private static CompletableFuture<Long> enter(Gate gate) {
        CompletableFuture<Long> entered = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                gate.enter();
                entered.complete(System.nanoTime());
            } catch (Exception e) {
                entered.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return entered;
    }
}
