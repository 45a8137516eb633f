package io.github.distributedpermit.harness.tenants;

import io.github.distributedpermit.harness.fleet.ConsulStore;
import io.github.distributedpermit.harness.fleet.PostgresStore;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.fleet.ZooKeeperStore;
import java.nio.file.Path;
import java.util.List;

/** Runs the loads of tenants on all stores, or on the named ones, and prints what came of them. */
public final class TenantMain {

    private static final Path FOLDER = Path.of("verification", "harness", "target", "harness", "tenants");

    private TenantMain() {}

    /**
     * Runs them.
     *
     * @param arguments seconds of each run, scenario or {@code all}, then stores
     */
    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        String scenario = arguments[1];
        List<String> stores = arguments.length > 2
                ? List.of(arguments).subList(2, arguments.length)
                : List.of("redis", "consul", "zookeeper", "database");
        for (String name : stores) {
            if (is(scenario, "forty")) {
                try (Store store = start(name)) {
                    List<Grant> grants = new TenantRun("forty", 1, seconds, 0, 0).on(store, FOLDER.resolve(name));
                    TenantRun.waits(grants).forEach((kind, waits) -> print(name, "forty", kind + ": " + waits));
                }
            }
            for (String load : List.of("chains", "alone")) {
                if (is(scenario, load)) {
                    try (Store store = start(name)) {
                        List<Grant> grants = new TenantRun(load, 4, seconds, 0, 0).on(store, FOLDER.resolve(name));
                        print(
                                name,
                                load,
                                "%d calls/s, most in use %s, %s"
                                        .formatted(
                                                grants.stream()
                                                                .filter(each -> each.key()
                                                                        .equals("all"))
                                                                .count()
                                                        / seconds,
                                                TenantRun.mostInUse(grants),
                                                TenantRun.waits(grants)));
                    }
                }
            }
            if (is(scenario, "rolling")) {
                try (Store store = start(name)) {
                    List<Grant> grants = new TenantRun("rolling", 4, seconds, 0, 0).on(store, FOLDER.resolve(name));
                    print(
                            name,
                            "rolling change",
                            "most in use %s, %s".formatted(TenantRun.mostInUse(grants), TenantRun.rolling(grants, 4)));
                }
            }
            if (is(scenario, "fair")) {
                List<String> kinds = List.of("one queue", "fair shares", "fixed limits");
                for (int kind = 0; kind < 3; kind++) {
                    try (Store store = start(name)) {
                        List<Grant> grants = new TenantRun("fair", 3, seconds, 0, kind).on(store, FOLDER.resolve(name));
                        print(
                                name,
                                kinds.get(kind),
                                "most in use %s, %s, %.0f %% of five permits in use"
                                        .formatted(
                                                TenantRun.mostInUse(grants),
                                                TenantRun.waits(grants),
                                                100 * TenantRun.shareInUse(grants, 5)));
                    }
                }
            }
            if (is(scenario, LingerLoad.NAME)) {
                for (int members : new int[] {2, 4}) {
                    for (int millis : new int[] {0, 1, 10}) {
                        try (Store store = start(name)) {
                            List<Grant> grants = new TenantRun(LingerLoad.NAME, members, seconds, 0, millis)
                                    .on(store, FOLDER.resolve(name));
                            TenantRun.mostInUse(grants.stream()
                                    .filter(each -> each.key().equals(LingerLoad.NAME))
                                    .toList());
                            print(
                                    name,
                                    "linger %d ms, %d members".formatted(millis, members),
                                    LingerLoad.result(grants));
                        }
                    }
                }
            }
            if (is(scenario, "urgent")) {
                for (int headStart : new int[] {0, 30}) {
                    try (Store store = start(name)) {
                        List<Grant> grants =
                                new TenantRun("urgent", 4, seconds, headStart, 500).on(store, FOLDER.resolve(name));
                        print(
                                name,
                                "head start " + headStart + " s",
                                "most in use %s, %s, longest overtaking by urgent calls %.1f s, at most %d others that came a second later served before a call"
                                        .formatted(
                                                TenantRun.mostInUse(grants),
                                                TenantRun.waits(grants),
                                                TenantRun.longestOvertaking(grants),
                                                TenantRun.mostOvertaking(grants)));
                    }
                }
            }
        }
    }

    private static boolean is(String asked, String scenario) {
        return asked.equals("all") || asked.equals(scenario);
    }

    private static Store start(String name) throws Exception {
        return switch (name) {
            case "redis" -> RedisStore.start();
            case "consul" -> ConsulStore.start();
            case "zookeeper" -> ZooKeeperStore.start(1);
            case "database" -> PostgresStore.start();
            default -> throw new IllegalArgumentException("No store " + name);
        };
    }

    private static void print(String store, String load, String result) {
        System.out.println(store + ", " + load + ": " + result);
    }
}
