package io.github.distributedpermit.harness.report;

import java.util.List;

/**
 * What came of a planted mistake, as it is written down.
 *
 * @param mistake its name
 * @param about what it is
 * @param scenario in which it was planted
 * @param hits of the fault
 * @param caught whether it was found
 * @param finding the first violation, if so
 */
public record Caught(String mistake, String about, String scenario, int hits, boolean caught, String finding) {

    private static final int SHORT = 110;

    /** What a run with the mistake found. */
    public static Caught of(String mistake, String about, Result result) {
        List<String> findings = result.findings();
        String finding = findings.isEmpty() ? "" : brief(findings.get(0));
        return new Caught(mistake, about, result.scenario(), result.hits(), !findings.isEmpty(), finding);
    }

    /** A violation without the calls that took part. */
    static String brief(String violation) {
        String text = violation.split(": \\[|: Call", 2)[0];
        return text.length() > SHORT ? text.substring(0, SHORT) + "..." : text;
    }
}
