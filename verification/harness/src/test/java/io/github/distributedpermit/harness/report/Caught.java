package io.github.distributedpermit.harness.report;

import java.util.List;

/**
 * The outcome of a mutant, as it is recorded.
 *
 * @param mutant its name
 * @param about what it is
 * @param scenario that ran with it
 * @param hits of the fault
 * @param caught whether it was found
 * @param finding the first violation, if so
 * @param origin code and machine
 */
public record Caught(
        String mutant, String about, String scenario, int hits, boolean caught, String finding, Origin origin) {

    private static final int SHORT = 110;

    /** What a run with the mutant found. */
    public static Caught of(String mutant, String about, Result result) {
        List<String> findings = result.findings();
        String finding = findings.isEmpty() ? "" : brief(findings.get(0));
        return new Caught(
                mutant, about, result.scenario(), result.hits(), !findings.isEmpty(), finding, result.origin());
    }

    /** A violation without the calls that took part. */
    static String brief(String violation) {
        String text = violation.split(": \\[|: Call", 2)[0];
        return text.length() > SHORT ? text.substring(0, SHORT) + "..." : text;
    }
}
