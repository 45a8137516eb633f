package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Checker;
import io.github.distributedpermit.harness.check.Findings;
import io.github.distributedpermit.harness.fleet.Crew;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.report.Result;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One run of a scenario: its store, its members, the blows, and what the history says afterwards. */
public final class Run {

    private static final int TRIES_PER_HIT = 5;
    private static final int MOST_DRAINED = 1_000;
    private static final Duration SETTLING = Duration.ofSeconds(6);

    private final Path folder;
    private final int capacity;
    private final List<Path> patches;

    /**
     * A run.
     *
     * @param folder for its history and logs, which are kept if it fails
     * @param capacity how many calls the history has room for
     * @param patches see {@link Crew}
     */
    public Run(Path folder, int capacity, List<Path> patches) {
        this.folder = folder;
        this.capacity = capacity;
        this.patches = patches;
    }

    /** Strikes until there are so many hits, then checks. */
    public <S extends Store> Result of(Scenario<S> scenario, int hits, long seed) throws Exception {
        clear();
        long start = System.nanoTime();
        List<String> violations = new ArrayList<>();
        Setup setup = scenario.setup();
        setup = setup.withOrders(setup.orders().withSeed(seed));
        int tried = 0;
        int hit = 0;
        String version;
        Findings findings;
        try (S store = scenario.opening().open()) {
            version = store.version();
            try (Crew crew = new Crew(folder, capacity, patches, setup.settings(store), setup.orders())) {
                Stage stage = new Stage(setup, crew, seed);
                try {
                    crew.start(setup.members());
                    while (hit < hits && tried < hits * TRIES_PER_HIT) {
                        stage.awaitFlow();
                        tried++;
                        hit += scenario.blow().strike(stage, store) ? 1 : 0;
                    }
                    stage.awaitFlow();
                    finish(stage, store, violations);
                } catch (IllegalStateException | TimeoutException e) {
                    violations.add(Result.STUCK + e);
                }
                if (hit < hits) {
                    violations.add(Result.VOID + "only %d hits of %d tries".formatted(hit, tried));
                }
                violations.addAll(stage.failures());
                findings = Checker.check(crew.log().calls(0), stage.circumstances(), setup.rules());
                violations.addAll(findings.violations());
                keep(crew, store, violations, seed);
            }
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        return Result.of(scenario, version, seed, tried, hit, findings, violations, seconds);
    }

    /** At rest: no call hangs, all permits are available, and nothing is left in the store. */
    static void finish(Stage stage, Store store, List<String> violations) throws Exception {
        Crew crew = stage.crew();
        int hung = crew.halt();
        if (hung > 0) {
            violations.add(hung + " threads did not come back from their call");
        }
        MemberProcess fresh = crew.start();
        drain(stage, fresh, violations);
        crew.quit();
        long deadline = System.nanoTime()
                + Setup.TOMBSTONE.multipliedBy(2).plus(SETTLING).toNanos();
        List<String> left = store.residue();
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            TimeUnit.MILLISECONDS.sleep(50);
            left = store.residue();
        }
        if (!left.isEmpty()) {
            violations.add("left in the store: " + left);
        }
    }

    private static void drain(Stage stage, MemberProcess fresh, List<String> violations) throws Exception {
        Setup setup = stage.setup();
        Duration patience =
                setup.lease().compareTo(Setup.HOUR) < 0 ? setup.lease().plus(SETTLING) : SETTLING;
        long deadline = System.nanoTime() + patience.toNanos();
        int[] taken;
        boolean exact;
        do {
            String answer = fresh.ask("drain " + Math.min(setup.orders().keys(), MOST_DRAINED) + " " + setup.limit());
            taken = Arrays.stream(answer.split(" "))
                    .skip(1)
                    .mapToInt(Integer::parseInt)
                    .toArray();
            exact = Arrays.stream(taken).allMatch(count -> count == setup.limit());
        } while (!exact && System.nanoTime() < deadline);
        if (!exact) {
            violations.add(
                    "drain: of a limit of %d there were to be had %s".formatted(setup.limit(), Arrays.toString(taken)));
        }
    }

    private void clear() throws IOException {
        if (Files.isDirectory(folder)) {
            try (var files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
        Files.createDirectories(folder);
    }

    private void keep(Crew crew, Store store, List<String> violations, long seed) throws IOException {
        if (violations.isEmpty()) {
            Files.deleteIfExists(crew.history());
            return;
        }
        try (FileChannel history = FileChannel.open(crew.history(), StandardOpenOption.WRITE)) {
            history.truncate(crew.log().bytes());
        }
        List<String> lines = new ArrayList<>(List.of("seed " + seed));
        lines.addAll(violations);
        Files.write(folder.resolve("violations.txt"), lines);
        store.keepLogs(folder);
    }
}
