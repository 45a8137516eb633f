package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Checker;
import io.github.distributedpermit.harness.check.Findings;
import io.github.distributedpermit.harness.check.Rules;
import io.github.distributedpermit.harness.fleet.Crew;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.fleet.RedisStore;
import io.github.distributedpermit.harness.member.Orders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Three processes with 64 threads each at a thousand keys for a long time, while an operator changes limits. Everything
 * that could grow must stay flat, and nothing may be left at the end.
 */
public final class Soak {

    private static final int KEYS = 1_000;
    private static final int LIMIT = 3;
    private static final int HIGHEST = 5;
    private static final int CAPACITY = 16_000_000;
    private static final int SAMPLES = 30;
    private static final int CHANGES_PER_SAMPLE = 20;
    private static final Duration RECOVERY = Duration.ofMillis(1_500);
    private static final double GROWTH = 1.3;

    private final Path folder;
    private final Duration length;

    /** A soak of that length. */
    public Soak(Path folder, Duration length) {
        this.folder = folder;
        this.length = length;
    }

    /** Runs it; {@code true} if all was well. Tells what it finds on standard output and in {@code vitals.csv}. */
    public boolean run(long seed) throws Exception {
        Files.createDirectories(folder);
        Files.deleteIfExists(folder.resolve("history"));
        Orders orders = new Orders(seed, 64, KEYS, 30_000, 120_000, 5_000, 10, 5);
        Setup setup = new Setup(3, LIMIT, Duration.ofSeconds(15), orders, RECOVERY, null, List.of());
        List<String> violations = new ArrayList<>();
        List<Vitals> vitals = new ArrayList<>();
        Findings findings;
        try (RedisStore store = RedisStore.start()) {
            try (Crew crew = new Crew(folder, CAPACITY, List.of(), setup.settings(store), orders)) {
                Stage stage = new Stage(setup, crew, seed);
                crew.start(setup.members());
                for (int sample = 0; sample < SAMPLES; sample++) {
                    changeLimits(stage);
                    vitals.add(Vitals.of(crew, store));
                }
                for (int key = 0; key < KEYS; key++) {
                    operator(stage).ask("override " + key + " -1");
                }
                Run.finish(stage, store, violations);
                Rules rules = new Rules(HIGHEST, 1, RECOVERY, false, null, Duration.ofMillis(500), null, null);
                findings = Checker.check(crew.log().calls(0), stage.circumstances(), rules);
            }
        }
        violations.addAll(findings.violations());
        Vitals.flat(vitals, GROWTH).ifPresent(violations::add);
        List<String> lines = new ArrayList<>(List.of(Vitals.HEADER));
        vitals.forEach(each -> lines.add(each.asText()));
        Files.write(folder.resolve("vitals.csv"), lines);
        lines.forEach(System.out::println);
        System.out.printf(
                "soak of %s: %d grants, most %d holders, recovery %d ms, late %d ms, seed %d%n%s%n",
                length,
                findings.grants(),
                findings.mostHolders(),
                findings.recoveryNanos() / 1_000_000,
                findings.lateNanos() / 1_000_000,
                seed,
                violations.isEmpty() ? "held" : "FAIL " + violations);
        return violations.isEmpty();
    }

    /** For the length of a sample. */
    private void changeLimits(Stage stage) throws Exception {
        long pause = length.dividedBy(SAMPLES).toNanos() / CHANGES_PER_SAMPLE;
        for (int change = 0; change < CHANGES_PER_SAMPLE; change++) {
            int key = stage.random().nextInt(KEYS / 10);
            int limit = 1 + stage.random().nextInt(HIGHEST);
            operator(stage).ask("override " + key + " " + (stage.random().nextInt(3) == 0 ? -1 : limit));
            TimeUnit.NANOSECONDS.sleep(pause);
        }
    }

    private static MemberProcess operator(Stage stage) {
        return stage.crew().loaded().get(0);
    }
}
