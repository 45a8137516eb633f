package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.footprint.Application;
import io.github.distributedpermit.benchmark.footprint.ClassPath;
import io.github.distributedpermit.benchmark.footprint.Footprint;
import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What the starter adds to an application that uses Redis: time to start, memory, threads and connections. */
public final class AddedFootprint implements Scenario {

    private static final String LOAD = "an application that uses Redis";
    private static final Map<Application, String> NAMES = Map.of(
            Application.REDIS, "without the starter",
            Application.PERMIT, "ours, with the starter");

    private final RedisServer redis;

    /** Counts the connections to this server. */
    public AddedFootprint(RedisServer redis) {
        this.redis = redis;
    }

    @Override
    public String title() {
        return "footprint";
    }

    @Override
    public void run(Bench bench) throws Exception {
        Map<Application, List<Footprint>> starts = new EnumMap<>(Application.class);
        int rounds = bench.effort().rounds(4);
        for (int round = -1; round < rounds; round++) { // the first one only brings the jars into the system's cache
            for (Application application : inTurn(round)) {
                Footprint start = application.measure(redis);
                if (round >= 0) {
                    starts.computeIfAbsent(application, absent -> new ArrayList<>())
                            .add(start);
                }
            }
        }
        List<Footprint> without = starts.getOrDefault(Application.REDIS, List.of());
        List<Footprint> with = starts.getOrDefault(Application.PERMIT, List.of());
        row(bench, "added classes", "classes", added(with, without, Footprint::classes), 500);
        row(bench, "added live heap", "MB", added(with, without, Footprint::heapMegabytes), 2);
        row(bench, "added connections to Redis", "connections", added(with, without, Footprint::connections), 2);
        starts.forEach((application, found) -> figures(bench, NAMES.getOrDefault(application, ""), found));
        figure(bench, NAMES.getOrDefault(Application.PERMIT, ""), "first permit ms", with, Footprint::firstCallMillis);
        jars(bench);
    }

    private static List<Application> inTurn(int round) {
        return round % 2 == 0
                ? List.of(Application.REDIS, Application.PERMIT)
                : List.of(Application.PERMIT, Application.REDIS);
    }

    private static Quartiles added(List<Footprint> with, List<Footprint> without, ToDoubleFunction<Footprint> what) {
        double[] added = new double[with.size()];
        for (int round = 0; round < added.length; round++) {
            added[round] = what.applyAsDouble(with.get(round)) - what.applyAsDouble(without.get(round));
        }
        return Quartiles.of(added);
    }

    private static void row(Bench bench, String metric, String unit, Quartiles value, double bound) {
        bench.report().row(metric, LOAD, unit, value, Mark.atMost(bound));
    }

    private static void figures(Bench bench, String name, List<Footprint> found) {
        figure(bench, name, "ready s", found, Footprint::readySeconds);
        figure(bench, name, "classes", found, Footprint::classes);
        figure(bench, name, "live heap MB", found, Footprint::heapMegabytes);
        figure(bench, name, "threads", found, Footprint::threads);
        figure(bench, name, "connections to Redis", found, Footprint::connections);
    }

    private static void figure(
            Bench bench, String name, String metric, List<Footprint> found, ToDoubleFunction<Footprint> what) {
        double[] values = found.stream().mapToDouble(what).toArray();
        bench.report().figure(LOAD, name, metric, Quartiles.of(values));
    }

    private static void jars(Bench bench) throws IOException {
        for (Path jar : ClassPath.own()) {
            if (Files.isRegularFile(jar)) { // a build that packages nothing has folders
                String name = String.valueOf(jar.getFileName());
                bench.report().figure("jars of the starter", name, "kB", Quartiles.exactly(Files.size(jar) / 1e3));
            }
        }
    }
}
