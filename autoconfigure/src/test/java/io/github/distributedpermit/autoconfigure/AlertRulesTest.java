package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.prometheusserver.PrometheusBinaries;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each alert is fired by its incident and by no healthy hour; {@code promtool} evaluates the rules. */
class AlertRulesTest {

    private static final String A = "job=\"orders\",instance=\"a\"";
    private static final String B = "job=\"orders\",instance=\"b\"";
    private static final String EXPORT = ",name=\"export\"";

    @TempDir
    private Path folder;

    /**
     * What differs from a healthy hour; a sample each quarter of a minute.
     *
     * @param fires the alert, and no other
     * @param labels of the alert, besides its job
     * @param minute when it has to fire
     */
    record Incident(String fires, String labels, int minute, Map<String, String> series) {

        @Override
        public String toString() {
            return fires + " " + labels;
        }
    }

    static Stream<Incident> incidents() {
        String a = "instance=\"a\"";
        String name = "name=\"export\"";
        return Stream.of(
                new Incident("PermitStoreDown", a, 32, Map.of(store(A, "up"), "1x119 0x120")),
                new Incident(
                        "PermitStoreSlow",
                        a,
                        45,
                        Map.of(claims(A, "sum"), "0+0.05x119 6+6x120", claims(A, "count"), "0+15x239")),
                new Incident("PermitStoreBypassed", a, 31, Map.of(store(A, "bypassed"), "0x119 1x120")),
                new Incident("PermitKeysInGrace", a, 31, Map.of(grace(A), "0x119 2x2 0x120")),
                new Incident("PermitsLost", a + "," + name, 31, Map.of(losses(A, "lost"), "0x119 1x120")),
                new Incident(
                        "PermitCallsRunWithoutPermit",
                        a + "," + name,
                        32,
                        Map.of(of(A, "running_lost_calls"), "0x119 1x120", losses(A, "taken"), "0x119 1x120")),
                new Incident("PermitCallsFail", a, 31, Map.of(of(A, "failures_calls_total"), "0x119 0+3x120")),
                new Incident(
                        "PermitWaitIsLong",
                        a + "," + name,
                        34,
                        Map.of(of(A, "wait_longest_seconds"), "3x119 0+15x120")),
                new Incident(
                        "PermitPaused",
                        name,
                        50,
                        Map.of(
                                keys(A, "paused"), "0x119 1x120",
                                keys(B, "paused"), "0x119 1x120",
                                keys(A, "full"), "0x239",
                                of(A, "wait_longest_seconds"), "3x119 0+15x120")),
                new Incident("PermitHoldIsLong", a + "," + name, 59, Map.of(of(A, "hold_longest_seconds"), "0+18x239")),
                new Incident(
                        "PermitHoldIsLong",
                        a + "," + name,
                        31,
                        Map.of(
                                of(A, "hold_longest_seconds"), "1x119 0+15x120",
                                of(A, "hold_seconds_sum"), "0+1.5x119 178.5x120",
                                of(A, "hold_seconds_count"), "0+3x119 357x120",
                                of(B, "hold_longest_seconds"), "1x239",
                                of(B, "hold_seconds_sum"), "0+1.5x239",
                                of(B, "hold_seconds_count"), "0+3x239")),
                new Incident(
                        "PermitCallsRejected", name, 55, Map.of(rejections(A, "export", "timed_out"), "0x119 0+5x120")),
                new Incident(
                        "PermitCallsAreNotServed",
                        a + "," + name + ",reason=\"shutting_down\"",
                        50,
                        Map.of(rejections(A, "export", "shutting_down"), "0x119 0+1x120")),
                new Incident("PermitLimitsDiffer", name, 59, Map.of(of(A, "fleet_limits_mixed_keys"), "0x79 1x160")),
                new Incident("PermitsFullyUsed", name, 55, Map.of(keys(A, "full"), "0x119 1x120")));
    }

    @ParameterizedTest
    @MethodSource("incidents")
    void incidentFiresItsAlertAndNoOther(Incident incident) throws Exception {
        Map<String, String> series = healthy();
        assertThat(series.keySet())
                .as("series that an incident replaces")
                .containsAll(incident.series().keySet());
        series.putAll(incident.series());
        check(series, """
                      - expr: max by (alertname, instance, name, reason) (ALERTS{alertstate="firing"})
                        eval_time: %dm
                        exp_samples:
                          - labels: '{alertname="%s",%s}'
                            value: 1
                """.formatted(incident.minute(), incident.fires(), incident.labels()));
    }

    /** The one that waits may be of another key than the one that is paused. */
    @ParameterizedTest
    @ValueSource(strings = {"inspected", "skipped"})
    void pauseOfOneKeyHidesNoLongWaitForAnother(String another) throws Exception {
        Map<String, String> series = healthy();
        series.put(keys(A, "paused"), "0x119 1x120");
        series.put(keys(A, another), another.equals("inspected") ? "2x239" : "1x239");
        series.put(of(A, "wait_longest_seconds"), "3x119 0+15x120");
        check(series, """
                      - expr: max by (alertname, instance, name) (ALERTS{alertstate="firing"})
                        eval_time: 40m
                        exp_samples:
                          - labels: '{alertname="PermitWaitIsLong",instance="a",name="export"}'
                            value: 1
                """);
    }

    /** No number of paused keys is known meanwhile. */
    @Test
    void outageOfAMinuteDoesNotEndAPause() throws Exception {
        Map<String, String> series = healthy();
        for (String instance : List.of(A, B)) {
            series.put(keys(instance, "inspected"), "1x159 0x4 1x75");
            series.put(keys(instance, "skipped"), "0x159 1x4 0x75");
            series.put(keys(instance, "paused"), "0x79 1x79 NaN NaN NaN NaN 1x75");
            series.put(keys(instance, "full"), "0x159 NaN NaN NaN NaN 0x75");
            series.put(of(instance, "wait_longest_seconds"), "3x79 0+15x159");
        }
        for (String at : List.of("40m15s", "40m45s", "42m")) {
            check(series, """
                          - expr: max by (alertname, name) (ALERTS{alertstate="firing"})
                            eval_time: %s
                            exp_samples:
                              - labels: '{alertname="PermitPaused",name="export"}'
                                value: 1
                    """.formatted(at));
        }
    }

    @Test
    void healthyHourFiresNone() throws Exception {
        check(healthy(), """
                      - expr: count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[60m]))
                        eval_time: 59m
                        exp_samples: []
                """);
    }

    @Test
    void eachAlertHasAnIncident() throws IOException {
        Set<String> alerts = Pattern.compile("- alert: (\\w+)")
                .matcher(Files.readString(MonitoringFilesTest.RULES))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(incidents().map(Incident::fires).distinct()).containsExactlyInAnyOrderElementsOf(alerts);
    }

    private static String of(String labels, String metric) {
        return "distributed_permit_" + metric + "{" + labels + EXPORT + "}";
    }

    private static String store(String labels, String metric) {
        return "distributed_permit_store_" + metric + "{" + labels + "}";
    }

    private static String grace(String labels) {
        return "distributed_permit_keys_grace_keys{" + labels + "}";
    }

    private static String claims(String labels, String part) {
        return "distributed_permit_claim_seconds_" + part + "{" + labels + ",outcome=\"answered\"}";
    }

    private static String losses(String labels, String cause) {
        return "distributed_permit_losses_permits_total{" + labels + EXPORT + ",cause=\"" + cause + "\"}";
    }

    private static String keys(String labels, String state) {
        return "distributed_permit_fleet_keys{" + labels + EXPORT + ",state=\"" + state + "\"}";
    }

    private static String rejections(String labels, String name, String reason) {
        return "distributed_permit_rejections_calls_total{" + labels + ",name=\"" + name + "\",reason=\"" + reason
                + "\"}";
    }

    private static String waits(String labels, String name) {
        return "distributed_permit_wait_seconds_count{" + labels + ",name=\"" + name + "\"}";
    }

    /**
     * Two instances: a permit that is full for some minutes, a tenth of whose calls almost waits in vain, a rolling update that
     * changes its limit, and a job that both instances start each minute and one of them runs.
     */
    private static Map<String, String> healthy() {
        Map<String, String> series = new LinkedHashMap<>();
        for (String instance : List.of(A, B)) {
            series.put(store(instance, "up"), "1x239");
            series.put(store(instance, "bypassed"), "0x239");
            series.put(grace(instance), "0x239");
            series.put(claims(instance, "sum"), "0+0.05x239");
            series.put(claims(instance, "count"), "0+15x239");
            series.put(losses(instance, "lost"), "0x239");
            series.put(losses(instance, "taken"), "0x119 2x120");
            series.put(of(instance, "running_lost_calls"), "0x119 2x2 0x117");
            series.put(of(instance, "failures_calls_total"), "0x239");
            series.put(of(instance, "wait_longest_seconds"), "0+2x20 3x218");
            series.put(of(instance, "hold_longest_seconds"), "0+15x200 5x38");
            series.put(of(instance, "hold_seconds_sum"), "0+600x239");
            series.put(of(instance, "hold_seconds_count"), "0+3x239");
            series.put(of(instance, "fleet_limits_mixed_keys"), "0x79 1x40 0x120");
            series.put(keys(instance, "inspected"), "1x239");
            series.put(keys(instance, "skipped"), "0x239");
            series.put(keys(instance, "full"), "0x79 1x40 0x120");
            series.put(keys(instance, "paused"), "0x79 1x30 0x130");
            series.put(waits(instance, "export"), "0+10x239");
            series.put(rejections(instance, "export", "timed_out"), "0+0.5x239");
            series.put(rejections(instance, "export", "queue_full"), "0x239");
            series.put(rejections(instance, "export", "shutting_down"), "0x119 9x120");
            series.put(waits(instance, "job"), "0+0.25x239");
        }
        series.put(rejections(A, "job", "limit_reached"), "0+0.25x239");
        series.put(rejections(B, "job", "limit_reached"), "0x239");
        return series;
    }

    private void check(Map<String, String> series, String expected) throws IOException, InterruptedException {
        StringBuilder test = new StringBuilder(
                "rule_files: ['%s']\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n"
                        .formatted(MonitoringFilesTest.RULES.toAbsolutePath().normalize()));
        series.forEach(
                (name, values) -> test.append("      - series: '%s'\n        values: '%s'\n".formatted(name, values)));
        test.append("    promql_expr_test:\n").append(expected.indent(0));
        Path file = Files.writeString(folder.resolve("test.yml"), test);
        Process process = new ProcessBuilder(PrometheusBinaries.tool().toString(), "test", "rules", file.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }
}
