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
        String finding = findings.isEmpty() ? "" : findings.get(0);
        int details = finding.indexOf(": [");
        finding = details < 0 ? finding : finding.substring(0, details);
        finding = finding.length() > SHORT ? finding.substring(0, SHORT) + "..." : finding;
        return new Caught(mistake, about, result.scenario(), result.hits(), !findings.isEmpty(), finding);
    }
}
