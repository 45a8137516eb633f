package io.github.distributedpermit.harness.scenario;

import java.util.ArrayList;
import java.util.List;

/** All rows. */
public final class Scenarios {

    private Scenarios() {}

    /** In the order of the table. */
    public static List<Scenario<?>> all() {
        List<Scenario<?>> all = new ArrayList<>(RedisScenarios.all());
        all.addAll(RedisNetwork.all());
        all.addAll(RedisTopologies.all());
        all.addAll(ZooKeeperScenarios.all());
        all.addAll(ConsulScenarios.all());
        all.addAll(ConsulTopologies.all());
        all.addAll(ConsulAnswers.all());
        return all;
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
