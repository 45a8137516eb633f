package io.github.distributedpermit.harness.mutant;

import io.github.distributedpermit.harness.report.Result;
import io.github.distributedpermit.harness.scenario.Run;
import io.github.distributedpermit.harness.scenario.Scenario;
import io.github.distributedpermit.harness.scenario.Scenarios;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.springframework.util.FileSystemUtils;

/** Runs a scenario with a mistake in every member. */
public final class Trial {

    private Trial() {}

    /** What the harness finds with so many hits; nothing, if it is blind. */
    public static Result of(Planted mistake, int hits, Path folder, int capacity, long seed) throws Exception {
        Path patch = folder.resolve(mistake.name() + "-patch");
        FileSystemUtils.deleteRecursively(patch);
        Files.createDirectories(patch);
        mistake.patch().into(patch);
        Scenario<?> scenario = Scenarios.named(mistake.scenario());
        return new Run(folder.resolve(mistake.name()), capacity, List.of(patch.toAbsolutePath()))
                .of(scenario, hits, seed);
    }
}
