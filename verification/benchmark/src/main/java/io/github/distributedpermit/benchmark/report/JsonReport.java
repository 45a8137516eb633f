package io.github.distributedpermit.benchmark.report;

import io.github.distributedpermit.benchmark.load.Quartiles;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The report for machines. */
public final class JsonReport {

    private JsonReport() {}

    /** The whole report. */
    public static String of(Report report) {
        return "{\n  \"setting\": " + object(report.setting(), JsonReport::text)
                + ",\n  \"marks\": " + array(report.rows(), JsonReport::row)
                + ",\n  \"figures\": " + array(report.figures(), JsonReport::figure)
                + ",\n  \"violations\": " + object(report.violations(), Object::toString)
                + ",\n  \"skipped\": " + array(report.skipped(), JsonReport::text)
                + "\n}\n";
    }

    private static String row(Row row) {
        return "{\"metric\": %s, \"workload\": %s, \"unit\": %s, %s, \"mark\": %s, \"reached\": %s}"
                .formatted(
                        text(row.metric()),
                        text(row.workload()),
                        text(row.unit()),
                        quartiles(row.value()),
                        text(row.mark().toString()),
                        row.isReached());
    }

    private static String figure(Figure figure) {
        return "{\"workload\": %s, \"contender\": %s, \"figure\": %s, %s}"
                .formatted(
                        text(figure.workload()),
                        text(figure.contender()),
                        text(figure.metric()),
                        quartiles(figure.value()));
    }

    private static String quartiles(Quartiles value) {
        return "\"lower\": %s, \"median\": %s, \"upper\": %s"
                .formatted(number(value.lower()), number(value.median()), number(value.upper()));
    }

    private static String number(double value) {
        return Double.isNaN(value) || Double.isInfinite(value) ? "null" : String.format(Locale.ROOT, "%.6g", value);
    }

    private static <T> String array(Collection<T> values, Function<T, String> write) {
        return values.stream().map(write).collect(Collectors.joining(",\n    ", "[\n    ", "\n  ]"));
    }

    private static <T> String object(Map<String, T> values, Function<T, String> write) {
        return values.entrySet().stream()
                .map(entry -> text(entry.getKey()) + ": " + write.apply(entry.getValue()))
                .collect(Collectors.joining(",\n    ", "{\n    ", "\n  }"));
    }

    private static String text(String value) {
        StringBuilder out = new StringBuilder("\"");
        value.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (c < 0x20) {
                out.append(String.format(Locale.ROOT, "\\u%04x", c));
            } else {
                out.append((char) c);
            }
        });
        return out.append('"').toString();
    }
}
