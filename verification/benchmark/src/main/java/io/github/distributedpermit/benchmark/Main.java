package io.github.distributedpermit.benchmark;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.fleet.Stores;
import io.github.distributedpermit.benchmark.fleet.Transport;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.report.Document;
import io.github.distributedpermit.benchmark.report.JsonReport;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.report.MissingPlaceException;
import io.github.distributedpermit.benchmark.report.Plot;
import io.github.distributedpermit.benchmark.report.Report;
import io.github.distributedpermit.benchmark.report.TextReport;
import io.github.distributedpermit.benchmark.scenario.AddedFootprint;
import io.github.distributedpermit.benchmark.scenario.Annotations;
import io.github.distributedpermit.benchmark.scenario.Bench;
import io.github.distributedpermit.benchmark.scenario.Contended;
import io.github.distributedpermit.benchmark.scenario.Crash;
import io.github.distributedpermit.benchmark.scenario.GraceCost;
import io.github.distributedpermit.benchmark.scenario.Growth;
import io.github.distributedpermit.benchmark.scenario.ManyKeys;
import io.github.distributedpermit.benchmark.scenario.MemberCost;
import io.github.distributedpermit.benchmark.scenario.Network;
import io.github.distributedpermit.benchmark.scenario.OnCluster;
import io.github.distributedpermit.benchmark.scenario.OnConsul;
import io.github.distributedpermit.benchmark.scenario.OnPostgres;
import io.github.distributedpermit.benchmark.scenario.OnZooKeeper;
import io.github.distributedpermit.benchmark.scenario.Processes;
import io.github.distributedpermit.benchmark.scenario.RareKeys;
import io.github.distributedpermit.benchmark.scenario.Renewal;
import io.github.distributedpermit.benchmark.scenario.Scenario;
import io.github.distributedpermit.benchmark.scenario.SettingsThatMatter;
import io.github.distributedpermit.benchmark.scenario.Spaced;
import io.github.distributedpermit.benchmark.scenario.Tails;
import io.github.distributedpermit.benchmark.scenario.Uncontended;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogManager;

/** {@code ./benchmark/run}: starts the servers, runs the scenarios, writes the report. */
public final class Main {

    private static final Path PAGE = Path.of("docs", "performance-figures.md");

    private Main() {}

    /** See {@link Options}. */
    public static void main(String[] args) throws Exception {
        Options options = Options.parse(args);
        LogManager.getLogManager().reset(); // peers complain at length of being interrupted at the end of a slice
        PrintStream out = System.out;
        Transport.choose();
        Report report = new Report(out::println);
        try (RedisServer redis = RedisServer.start()) {
            Machine.describe(report, redis.version());
            Bench bench = new Bench(options.effort(), Stores.redis(redis.port()), report);
            List<Scenario> scenarios =
                    scenarios(redis).stream().filter(options::includes).toList();
            if (options.record()) {
                List<String> titles = scenarios.stream().map(Scenario::title).toList();
                Document.requirePlaces(PAGE, titles, options.isWhole());
            }
            for (Scenario scenario : scenarios) {
                run(scenario, bench);
            }
        } catch (MissingPlaceException e) {
            System.err.println(e.getMessage());
            System.exit(1);
        }
        report.row(
                "violations of the limit",
                "all runs of ours",
                "",
                Quartiles.exactly(report.violations(Cast::isOurs)),
                Mark.atMost(0));
        out.println(TextReport.of(report));
        Files.createDirectories(options.output());
        Files.writeString(options.output().resolve("benchmark.json"), JsonReport.of(report));
        Files.writeString(options.output().resolve("benchmark.md"), TextReport.of(report));
        Files.writeString(options.output().resolve("benchmark.svg"), Plot.of(report));
        if (options.record()) {
            Document.update(PAGE, report, options.isWhole());
        }
        System.exit(options.check() && !report.isReached() ? 1 : 0);
    }

    private static List<Scenario> scenarios(RedisServer redis) {
        return List.of(
                new Uncontended(),
                new Spaced(redis),
                new RareKeys(redis),
                new ManyKeys(redis),
                new OnCluster(),
                new Contended(redis),
                new Processes(redis),
                new Network(redis),
                new Tails(),
                new MemberCost(redis),
                new GraceCost(redis),
                new Renewal(redis),
                new Crash(),
                new Annotations(),
                new AddedFootprint(redis),
                new OnZooKeeper(),
                new OnConsul(),
                new OnPostgres(),
                new Growth(redis),
                new SettingsThatMatter(redis));
    }

    private static void run(Scenario scenario, Bench bench) throws Exception {
        Report report = bench.report();
        report.begin(scenario.title());
        ForeignLoad load = ForeignLoad.begin();
        long start = System.nanoTime();
        scenario.run(bench);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        report.end(seconds + " s, foreign load " + load.end());
    }
}
