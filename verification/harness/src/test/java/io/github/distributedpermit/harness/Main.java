package io.github.distributedpermit.harness;

import io.github.distributedpermit.harness.fleet.AnotherRedis;
import io.github.distributedpermit.harness.mutant.Planted;
import io.github.distributedpermit.harness.mutant.Trial;
import io.github.distributedpermit.harness.report.Caught;
import io.github.distributedpermit.harness.report.Result;
import io.github.distributedpermit.harness.report.Results;
import io.github.distributedpermit.harness.scenario.Run;
import io.github.distributedpermit.harness.scenario.Scenario;
import io.github.distributedpermit.harness.scenario.Scenarios;
import io.github.distributedpermit.harness.scenario.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The command line: {@code ./verification/harness/run}. */
public final class Main {

    private static final Path FOLDER = Path.of("verification", "harness", "target", "harness");
    private static final int CAPACITY = 4_000_000;

    private Main() {}

    /** Runs what the arguments say; exits with 1 if anything did not hold. */
    public static void main(String[] arguments) throws Exception {
        // whoever ends this ends its servers and members as well
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly)));
        Options options = Options.parse(arguments);
        if (options.list()) {
            Scenarios.all().forEach(scenario -> System.out.println(scenario.name() + ": " + scenario.fault()));
            Planted.names().forEach(name -> System.out.println("--mutants " + name));
            return;
        }
        Duration soak = options.soak();
        if (soak != null) {
            boolean flat = new Soak(FOLDER.resolve("soak"), soak).run(options.seed());
            System.exit(flat ? 0 : 1);
        }
        AnotherRedis redis = options.redis();
        if (redis != null) {
            redis.use();
        }
        boolean held = options.mutants() ? allAreCaught(options) : allHold(options);
        System.exit(held ? 0 : 1);
    }

    private static boolean allHold(Options options) throws Exception {
        List<Scenario<?>> scenarios = options.names().isEmpty() ? Scenarios.all() : Scenarios.named(options.names());
        ExecutorService pool = Executors.newFixedThreadPool(options.atOnce());
        try {
            List<Future<Result>> results = scenarios.stream()
                    .map(scenario -> pool.submit(() -> run(scenario, options)))
                    .toList();
            boolean held = true;
            for (Future<Result> each : results) {
                Result result = each.get();
                held &= result.held();
                if (options.record()) {
                    Results.record(result);
                }
            }
            return held;
        } finally {
            pool.shutdownNow();
        }
    }

    private static Result run(Scenario<?> plain, Options options) throws Exception {
        AnotherRedis redis = options.redis();
        Scenario<?> scenario = redis == null ? plain : plain.called(plain.name() + " " + redis.option());
        int hits = options.hits() > 0 ? options.hits() : scenario.hits();
        Path folder = FOLDER.resolve(Results.fileName(scenario.name()));
        Result result = new Run(folder, CAPACITY, List.of()).of(scenario, hits, options.seed());
        System.out.println(result.asText());
        Results.write(folder, result);
        return result;
    }

    private static boolean allAreCaught(Options options) throws Exception {
        boolean caught = true;
        for (Planted mistake : Planted.named(options.names())) {
            int hits = options.hits() > 0 ? options.hits() : mistake.hits();
            Result result = Trial.of(mistake, hits, FOLDER, CAPACITY, options.seed());
            caught &= !result.findings().isEmpty();
            Caught outcome = Caught.of(mistake.name(), mistake.about(), result);
            if (options.record()) {
                Results.record(outcome);
            }
            System.out.println(
                    result.findings().isEmpty()
                            ? "MISSED " + mistake + ": " + result.asText()
                            : "caught " + mistake + " by " + result.asText());
        }
        return caught;
    }
}
