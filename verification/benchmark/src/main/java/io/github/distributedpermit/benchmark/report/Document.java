package io.github.distributedpermit.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The page for people. What comes from a run stands between {@code <!-- name -->} and {@code <!-- end of name -->}: the
 * marks under {@code table}, the figures of a scenario under its title. All else on the page is written by hand.
 */
public final class Document {

    private Document() {}

    /**
     * Brings the page up to date, and the plot beside it.
     *
     * @param whole whether all was measured in this run; otherwise only the figures of what was run are written
     */
    public static void update(Path page, Report report, boolean whole) throws IOException {
        Files.writeString(page, of(Files.readString(page), report, whole));
        if (whole) {
            Files.writeString(page.resolveSibling("performance.svg"), Plot.of(report));
        }
    }

    static String of(String page, Report report, boolean whole) {
        String text = whole ? put(page, "table", TextReport.marks(report)) : page;
        for (Map.Entry<String, List<Figure>> scenario :
                report.figuresByScenario().entrySet()) {
            String title = scenario.getKey();
            String about = "*" + title + ": " + report.effortOf(title) + "*\n\n";
            text = put(text, title, about + tables(scenario.getValue()));
        }
        return text;
    }

    private static String put(String page, String name, String text) {
        String begin = "<!-- " + name + " -->\n";
        int from = page.indexOf(begin);
        int to = page.indexOf("<!-- end of " + name + " -->");
        if (from < 0 || to < from) {
            throw new IllegalStateException("The page has no place for '" + name + "'");
        }
        return page.substring(0, from + begin.length()) + text + page.substring(to);
    }

    /** A table by workload with a line by contender; of one contender alone a table with a line by workload. */
    private static String tables(List<Figure> figures) {
        if (figures.stream().map(Figure::contender).distinct().count() == 1) {
            return table(figures.get(0).contender(), figures, Figure::workload);
        }
        return figures.stream()
                .collect(Collectors.groupingBy(Figure::workload, LinkedHashMap::new, Collectors.toList()))
                .entrySet()
                .stream()
                .map(each -> table(each.getKey(), each.getValue(), Figure::contender))
                .collect(Collectors.joining("\n"));
    }

    private static String table(String corner, List<Figure> figures, Function<Figure, String> line) {
        Set<String> columns = figures.stream().map(Figure::metric).collect(Collectors.toCollection(LinkedHashSet::new));
        StringBuilder table = new StringBuilder("| " + corner + " | " + String.join(" | ", columns) + " |\n");
        table.append("|---".repeat(columns.size() + 1)).append("|\n");
        Map<String, Map<String, Figure>> lines = new LinkedHashMap<>();
        for (Figure figure : figures) {
            lines.computeIfAbsent(line.apply(figure), absent -> new LinkedHashMap<>())
                    .put(figure.metric(), figure);
        }
        lines.forEach((name, values) -> {
            table.append("| ").append(name);
            for (String column : columns) {
                Figure figure = values.get(column);
                table.append(" | ")
                        .append(
                                figure == null
                                        ? ""
                                        : TextReport.number(figure.value().median()));
            }
            table.append(" |\n");
        });
        return table.toString();
    }
}
