package io.github.distributedpermit.harness.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** All rows. */
public final class Scenarios {

    private static final Set<String> STORES =
            Set.of("redis", "redis-sentinel", "redis-grace", "zookeeper", "consul", "database");

    private Scenarios() {}

    /** In the order of the table. */
    public static List<Scenario<?>> all() {
        List<Scenario<?>> all = new ArrayList<>(RedisScenarios.all());
        all.addAll(RedisNetwork.all());
        all.addAll(RedisOutages.all());
        all.addAll(RedisTopologies.all());
        all.addAll(SentinelScenarios.all());
        all.addAll(GraceScenarios.all());
        all.addAll(ZooKeeperScenarios.all());
        all.addAll(ConsulScenarios.all());
        all.addAll(ConsulTopologies.all());
        all.addAll(ConsulAnswers.all());
        all.addAll(PostgresScenarios.all());
        return all;
    }

    /** Those of these names; the name of a store stands for all of its rows. */
    public static List<Scenario<?>> named(List<String> names) {
        return names.stream()
                .flatMap(name -> STORES.contains(name)
                        ? all().stream().filter(scenario -> scenario.name().startsWith(name + "-"))
                        : Stream.of(named(name)))
                .toList();
    }

    /** The one of that name. */
    public static Scenario<?> named(String name) {
        return all().stream()
                .filter(scenario -> scenario.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No scenario is called " + name + "; there are "
                        + all().stream().map(Scenario::name).toList()));
    }
}
