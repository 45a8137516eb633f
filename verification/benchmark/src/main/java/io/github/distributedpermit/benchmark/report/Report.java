package io.github.distributedpermit.benchmark.report;

import io.github.distributedpermit.benchmark.load.Quartiles;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** What a run has found. Confined to one thread. */
public final class Report {

    private final Map<String, String> setting = new LinkedHashMap<>();
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, List<Figure>> figures = new LinkedHashMap<>();
    private String scenario = "";
    private final Map<String, Long> violations = new LinkedHashMap<>();
    private final List<String> skipped = new ArrayList<>();
    private final Consumer<String> progress;

    /** Tells of progress line by line. */
    public Report(Consumer<String> progress) {
        this.progress = progress;
    }

    /** A fact about machine, versions or foreign load. */
    public void setting(String name, String value) {
        setting.put(name, value);
    }

    /** A line of the table. */
    public void row(String metric, String workload, String unit, Quartiles value, Mark mark) {
        Row row = new Row(metric, workload, unit, value, mark);
        rows.add(row);
        progress.accept("  " + TextReport.line(row));
    }

    /** An absolute figure. */
    public void figure(String workload, String contender, String metric, Quartiles value) {
        figures.computeIfAbsent(scenario, absent -> new ArrayList<>())
                .add(new Figure(workload, contender, metric, value));
    }

    /** What the observer saw, by contender. */
    public void observed(Map<String, Long> seen) {
        seen.forEach((contender, count) -> violations.merge(contender, count, Long::sum));
    }

    /** Something that was not measured, and why. */
    public void skipped(String what, String why) {
        skipped.add(what + ": " + why);
        progress.accept("  SKIPPED " + what + ": " + why);
    }

    /** What follows is of this scenario. */
    public void begin(String title) {
        scenario = title;
        progress.accept(title);
    }

    /** The scenario has ended. */
    public void end(String effort) {
        setting("'" + scenario + "'", effort);
    }

    /** How long a scenario took, and what else the machine did meanwhile. */
    String effortOf(String title) {
        return setting.getOrDefault("'" + title + "'", "");
    }

    Map<String, String> setting() {
        return setting;
    }

    List<Row> rows() {
        return rows;
    }

    /** In the order in which they came. */
    List<Figure> figures() {
        return figures.values().stream().flatMap(List::stream).toList();
    }

    /** The same, by scenario. */
    Map<String, List<Figure>> figuresByScenario() {
        return figures;
    }

    Map<String, Long> violations() {
        return violations;
    }

    List<String> skipped() {
        return skipped;
    }

    /** Whether everything was measured and every mark reached. */
    public boolean isReached() {
        return skipped.isEmpty() && rows.stream().allMatch(Row::isReached);
    }

    /** Violations of those contenders, all runs. */
    public long violations(Predicate<String> contenders) {
        return violations.entrySet().stream()
                .filter(each -> contenders.test(each.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
