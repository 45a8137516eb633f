package io.github.distributedpermit.benchmark.report;

import io.github.distributedpermit.benchmark.load.Quartiles;
import java.util.Locale;

/** The table as Markdown, readable on a terminal too. */
public final class TextReport {

    private TextReport() {}

    /** The whole report. */
    public static String of(Report report) {
        StringBuilder text = new StringBuilder(marks(report));
        text.append("\n| workload | contender | figure | median | quartiles |\n|---|---|---|---|---|\n");
        for (Figure figure : report.figures()) {
            Quartiles value = figure.value();
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s to %s |%n",
                    figure.workload(),
                    figure.contender(),
                    figure.metric(),
                    number(value.median()),
                    number(value.lower()),
                    number(value.upper())));
        }
        text.append("\nViolations of the limit, as the observer saw them: ")
                .append(report.violations())
                .append('\n');
        return text.toString();
    }

    /** What it was measured on, and every mark. */
    static String marks(Report report) {
        StringBuilder text = new StringBuilder();
        report.setting()
                .forEach((name, value) -> text.append("- ")
                        .append(name)
                        .append(": ")
                        .append(value)
                        .append('\n'));
        text.append(
                "\n| metric | workload | median | quartiles | unit | mark | reached |\n|---|---|---|---|---|---|---|\n");
        for (Row row : report.rows()) {
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s to %s | %s | %s | %s |%n",
                    row.metric(),
                    row.workload(),
                    number(row.value().median()),
                    number(row.value().lower()),
                    number(row.value().upper()),
                    row.unit(),
                    row.mark(),
                    row.isReached() ? "yes" : "**no**"));
        }
        report.skipped()
                .forEach(
                        line -> text.append("\n**Not measured:** ").append(line).append('\n'));
        return text.toString();
    }

    static String line(Row row) {
        return String.format(
                Locale.ROOT,
                "%-7s %s, %s: %s (%s to %s) %s, mark %s",
                row.isReached() ? "reached" : "MISSED",
                row.metric(),
                row.workload(),
                number(row.value().median()),
                number(row.value().lower()),
                number(row.value().upper()),
                row.unit(),
                row.mark());
    }

    static String number(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return "-";
        }
        double size = Math.abs(value);
        if (size >= 100 || value == 0) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return String.format(Locale.ROOT, size >= 0.1 ? "%.2f" : "%.4f", value);
    }
}
