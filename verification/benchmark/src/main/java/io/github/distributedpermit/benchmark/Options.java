package io.github.distributedpermit.benchmark;

import io.github.distributedpermit.benchmark.scenario.Effort;
import io.github.distributedpermit.benchmark.scenario.Scenario;
import java.nio.file.Path;
import java.util.Locale;

/**
 * What the command line says.
 *
 * @param effort {@code --quick}, the default, or {@code --full}
 * @param check {@code --check}: exit code 1 if a mark is missed or was not measured
 * @param record {@code --record}: bring the page on performance and its plot up to date
 * @param only {@code --only=text}: the scenarios whose title contains it
 * @param output {@code --output=folder}: where the report goes
 */
record Options(Effort effort, boolean check, boolean record, String only, Path output) {

    static Options parse(String[] args) {
        Effort effort = Effort.QUICK;
        boolean check = false;
        boolean record = false;
        String only = "";
        Path output = Path.of("verification", "benchmark", "target", "report");
        for (String arg : args) {
            if (arg.equals("--full")) {
                effort = Effort.FULL;
            } else if (arg.equals("--check")) {
                check = true;
            } else if (arg.equals("--record")) {
                record = true;
            } else if (arg.startsWith("--only=")) {
                only = arg.substring(7).toLowerCase(Locale.ROOT);
            } else if (arg.startsWith("--output=")) {
                output = Path.of(arg.substring(9));
            } else if (!arg.equals("--quick")) {
                throw new IllegalArgumentException("Unknown: " + arg
                        + "; known: --quick --full --check --record --only=title --output=folder --jmh");
            }
        }
        return new Options(effort, check, record, only, output);
    }

    boolean includes(Scenario scenario) {
        boolean wanted = scenario.isQuick() || effort == Effort.FULL || !only.isEmpty();
        return wanted && scenario.title().toLowerCase(Locale.ROOT).contains(only);
    }

    /** Whether all marks are measured. */
    boolean isWhole() {
        return only.isEmpty();
    }
}
