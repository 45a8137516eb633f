package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Fleet;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.Gate;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.load.Workload;
import io.github.distributedpermit.benchmark.ours.OnDatabase;
import io.github.distributedpermit.benchmark.ours.OurContender;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.PostgresServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.core.CoreSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** PostgreSQL, beside what people write for it themselves, and Redisson's semaphore on Redis. */
public final class OnPostgres implements Scenario {

    /** Rounds of 200 ms: five seconds of each contender. */
    private static final int WARM_UP = 25;

    /** Long enough for the commit of a return to have ended before the next call, unless the disk is busy. */
    private static final Duration GAP = Duration.ofMillis(2);

    private static final int EVENTS = 2_000;

    /** Whatever reads or changes a key. */
    private static final String CLAIMS = "%distributed_permit_key%";

    private static final String POLLS = "SELECT%distributed_permit_key%";
    private static final String RENEWALS = "UPDATE distributed_permit_member SET expires%";
    private static final String SLOTS = "UPDATE slot%";

    private static final int KEYS = 10_000;
    private static final int AT_ONCE = 250;

    @Override
    public String title() {
        return "PostgreSQL";
    }

    @Override
    public void run(Bench bench) throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            bench.report()
                    .setting("PostgreSQL server", server.version() + ", fsync and synchronous_commit on, loopback");
            Bench here = new Bench(bench.effort(), bench.stores().with(server.url()), bench.report());
            uncontended(here, server);
            spaced(here);
            manyKeys(here);
            contended(here, server);
            processes(here);
            idle(here, server);
            oneHotRow(here, server);
            renewal(here, server);
        }
    }

    private static void uncontended(Bench bench, PostgresServer server) throws Exception {
        Workload work = Workload.of(1, 10, Duration.ZERO, Duration.ofMillis(200));
        String load = "PostgreSQL, one thread, one key";
        List<String> names = List.of(Cast.DATABASE, Cast.SLOT_ROWS, Cast.ADVISORY, Cast.SHEDLOCK, Cast.RSEMAPHORE);
        StatementMeter ours = new StatementMeter(server, CLAIMS);
        StatementMeter theirs = new StatementMeter(server, SLOTS);
        Duel duel = bench.warmDuel(
                work,
                names,
                0,
                WARM_UP,
                bench.effort().rounds(8, 36),
                Map.of(Cast.DATABASE, ours, Cast.SLOT_ROWS, theirs));
        bench.report()
                .row(
                        "pair",
                        load,
                        "x slot rows",
                        duel.ratio(Cast.SLOT_ROWS, Cast.DATABASE, SliceStats::perSecond),
                        Mark.atMost(1));
        bench.report().row("statements per pair", load, "statements", ours.perPair(), Mark.atMost(2.05));
        bench.report().row("server time of a pair", load, "us", ours.microsPerPair(), Mark.atMost(45));
        bench.report().figure(load, Cast.DATABASE, "server us per pair", ours.microsPerPair());
        bench.report().figure(load, Cast.SLOT_ROWS, "server us per pair", theirs.microsPerPair());
        for (String name : names) {
            bench.report().figure(load, name, "us per pair", duel.figure(name, stats -> 1e6 / stats.perSecond()));
        }
    }

    private static void spaced(Bench bench) throws Exception {
        Workload work = Workload.of(1, 10, GAP, Duration.ofMillis(300)).spaced(GAP);
        String load = "PostgreSQL, one thread, one key, hold 2 ms, pause 2 ms";
        List<String> names = List.of(Cast.DATABASE, Cast.SLOT_ROWS, Cast.ADVISORY, Cast.SHEDLOCK, Cast.RSEMAPHORE);
        Duel duel = bench.warmDuel(work, names, EVENTS, WARM_UP, bench.effort().rounds(8, 36));
        bench.report()
                .row(
                        "acquire alone",
                        load,
                        "x SKIP LOCKED",
                        duel.ratio(
                                Cast.DATABASE,
                                Cast.SLOT_ROWS,
                                stats -> stats.times().acquire()),
                        Mark.atMost(1.6));
        bench.report()
                .figure(
                        load,
                        Cast.DATABASE,
                        "pair x SKIP LOCKED",
                        duel.ratio(
                                Cast.DATABASE,
                                Cast.SLOT_ROWS,
                                stats -> stats.times().pair()));
        for (String name : names) {
            Spaced.figures(bench, duel, load, name);
        }
    }

    private static void manyKeys(Bench bench) throws Exception {
        Workload work =
                Workload.of(16, 1000, Duration.ZERO, Duration.ofMillis(300)).on(16);
        String load = "PostgreSQL, 16 keys, 16 threads, limit 1000";
        List<String> names = List.of(Cast.DATABASE, Cast.DATABASE_UNBATCHED);
        Duel duel = bench.warmDuel(work, names, 0, WARM_UP, bench.effort().rounds(8, 36));
        bench.report()
                .row(
                        "throughput, many keys",
                        load,
                        "x one at a time",
                        duel.ratio(Cast.DATABASE, Cast.DATABASE_UNBATCHED, SliceStats::perSecond),
                        Mark.atLeast(2.5));
        for (String name : names) {
            bench.report().figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
        }
    }

    private static void contended(Bench bench, PostgresServer server) throws Exception {
        Workload work =
                Workload.of(200, 10, Duration.ofMillis(1), bench.effort().slice(2000, 4000));
        String load = "PostgreSQL, " + Contended.load(10, 200, work);
        List<String> names = List.of(Cast.DATABASE, Cast.SLOT_ROWS, Cast.ADVISORY, Cast.RSEMAPHORE);
        StatementMeter polls = new StatementMeter(server, POLLS);
        Duel duel = bench.duel(
                work, names, true, Contended.EVENTS, 1, bench.effort().rounds(2, 9), Map.of(Cast.DATABASE, polls));
        bench.report()
                .row(
                        "throughput",
                        load,
                        "x slot rows",
                        duel.ratio(Cast.DATABASE, Cast.SLOT_ROWS, SliceStats::perSecond),
                        Mark.atLeast(20));
        bench.report()
                .row(
                        "longest / mean wait",
                        load,
                        "",
                        duel.figure(Cast.DATABASE, SliceStats::longestByMean),
                        Mark.atMost(1.3));
        bench.report().row("reads per pair while 190 wait", load, "statements", polls.perPair(), Mark.atMost(1));
        new Rows(bench.report(), duel, load).figures(names);
    }

    private static void processes(Bench bench) throws Exception {
        Workload work = Workload.of(16, 3, Duration.ofMillis(1), bench.effort().slice(2000, 4000))
                .in(4);
        String load = "PostgreSQL, 4 processes x 16 threads, limit 3, hold 1 ms";
        List<String> names = List.of(Cast.DATABASE, Cast.SLOT_ROWS, Cast.ADVISORY, Cast.RSEMAPHORE);
        try (Fleet fleet = new Fleet(bench.stores(), work.processes())) {
            Duel duel = bench.fleetDuel(
                    fleet, work, names, Contended.EVENTS, 1, bench.effort().rounds(2, 9), Map.of());
            bench.report()
                    .row(
                            "throughput",
                            load,
                            "x slot rows",
                            duel.ratio(Cast.DATABASE, Cast.SLOT_ROWS, SliceStats::perSecond),
                            Mark.atLeast(1.5));
            bench.report()
                    .row(
                            "idle share of the permits",
                            load,
                            "",
                            duel.figure(Cast.DATABASE, SliceStats::idleShare),
                            Mark.atMost(0.5));
            new Rows(bench.report(), duel, load).figures(names);
        }
    }

    /** A permit is held and no call waits. */
    private static void idle(Bench bench, PostgresServer server) throws Exception {
        try (OurContender ours = OnDatabase.contender(bench.stores().database(), CoreSettings.DEFAULTS)) {
            Gate gate = ours.gate("idle", 10);
            Object pass = gate.enter();
            ScriptCalls before = server.statements(POLLS);
            TimeUnit.SECONDS.sleep(5);
            long polls = server.statements(POLLS).since(before).calls();
            gate.leave(pass);
            bench.report()
                    .row(
                            "reads while nothing waits",
                            "PostgreSQL, one permit held for 5 s",
                            "statements",
                            Quartiles.exactly(polls),
                            Mark.atMost(0));
        }
    }

    private static void renewal(Bench bench, PostgresServer server) throws Exception {
        String load = "PostgreSQL, %d permits of as many keys".formatted(KEYS);
        double interval = CoreSettings.DEFAULTS.lease().toMillis() / 10_000.0;
        int seconds = 10;
        try (OurContender ours = OnDatabase.contender(bench.stores().database(), CoreSettings.DEFAULTS)) {
            NamedPermits permits = ours.permits(1);
            List<CompletableFuture<Permit>> held = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                held.add(permits.acquireAsync(PermitRequest.of("renewed-" + i)));
                if (i % AT_ONCE == 0) {
                    held.get(i).get(60, TimeUnit.SECONDS);
                }
            }
            CompletableFuture.allOf(held.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            ScriptCalls renewals = server.statements(RENEWALS);
            ScriptCalls claims = server.statements("UPDATE" + CLAIMS);
            TimeUnit.SECONDS.sleep(seconds);
            renewals = server.statements(RENEWALS).since(renewals);
            claims = server.statements("UPDATE" + CLAIMS).since(claims);
            long lost = held.stream().filter(permit -> !permit.join().isHeld()).count();
            bench.report()
                    .row(
                            "statements of a renewal",
                            load,
                            "statements",
                            Quartiles.exactly((renewals.calls() + claims.calls()) / (seconds / interval)),
                            Mark.atMost(1.2));
            bench.report().row("permits lost meanwhile", load, "permits", Quartiles.exactly(lost), Mark.atMost(0));
            held.forEach(permit -> permit.join().release());
        }
    }

    /** One thread that changes one row as fast as it can. */
    private static void oneHotRow(Bench bench, PostgresServer server) throws Exception {
        Duration length = bench.effort().slice(10_000, 60_000);
        String load = "PostgreSQL, one key for %d s".formatted(length.toSeconds());
        try (OurContender ours = OnDatabase.contender(bench.stores().database(), CoreSettings.DEFAULTS)) {
            Gate gate = ours.gate("hot", 10);
            loop(gate, Duration.ofSeconds(1));
            long table = size(server, "pg_relation_size");
            long index = size(server, "pg_indexes_size");
            awaitStatistics();
            long updates = updates(server, "n_tup_upd");
            long hot = updates(server, "n_tup_hot_upd");
            loop(gate, length);
            awaitStatistics();
            updates = updates(server, "n_tup_upd") - updates;
            hot = updates(server, "n_tup_hot_upd") - hot;
            long grown = size(server, "pg_relation_size") - table + size(server, "pg_indexes_size") - index;
            bench.report().row("growth of table and index", load, "bytes", Quartiles.exactly(grown), Mark.atMost(0));
            bench.report()
                    .row(
                            "updates that stay in their page (HOT)",
                            load,
                            "%",
                            Quartiles.exactly(100.0 * hot / updates),
                            Mark.atLeast(99.9));
            bench.report()
                    .figure(
                            load,
                            Cast.DATABASE,
                            "updates per second",
                            Quartiles.exactly((double) updates / length.toSeconds()));
        }
    }

    private static void loop(Gate gate, Duration length) throws Exception {
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() < end) {
            gate.leave(gate.enter());
        }
    }

    private static long size(PostgresServer server, String function) throws Exception {
        return server.number("SELECT " + function + "('distributed_permit_key')");
    }

    private static long updates(PostgresServer server, String column) throws Exception {
        return server.number("SELECT " + column + " FROM pg_stat_user_tables WHERE relname = 'distributed_permit_key'");
    }

    /** The server collects them twice a second, and a connection reports at its next statement: its renewal. */
    private static void awaitStatistics() throws InterruptedException {
        TimeUnit.SECONDS.sleep(3);
    }
}
