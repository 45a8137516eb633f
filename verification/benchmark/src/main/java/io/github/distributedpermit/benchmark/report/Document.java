package io.github.distributedpermit.benchmark.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    private static final String MARKS = "table";

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

    /**
     * Checks before a run that the page has a place for each of its tables, since a run takes minutes.
     *
     * @param titles of the scenarios of the run
     * @param whole as for {@link #update}
     */
    public static void requirePlaces(Path page, List<String> titles, boolean whole)
            throws IOException, MissingPlaceException {
        List<String> names = new ArrayList<>(titles);
        if (whole) {
            names.add(0, MARKS);
        }
        String text = Files.readString(page);
        names.removeIf(name -> hasPlace(text, name));
        if (!names.isEmpty()) {
            throw new MissingPlaceException(page, names);
        }
    }

    static String of(String page, Report report, boolean whole) {
        String text = whole ? put(page, MARKS, TextReport.marks(report)) : page;
        for (Map.Entry<String, List<Figure>> scenario :
                report.figuresByScenario().entrySet()) {
            String title = scenario.getKey();
            String about = "*" + title + ": " + report.effortOf(title) + "*\n\n";
            text = put(text, title, about + tables(scenario.getValue()));
        }
        return text;
    }

    private static String put(String page, String name, String text) {
        if (!hasPlace(page, name)) {
            throw new IllegalStateException("The page has no place for '" + name + "'");
        }
        String begin = begin(name);
        return page.substring(0, page.indexOf(begin) + begin.length()) + text + page.substring(page.indexOf(end(name)));
    }

    private static boolean hasPlace(String page, String name) {
        int from = page.indexOf(begin(name));
        return from >= 0 && page.indexOf(end(name)) > from;
    }

    /** The line before what comes from a run. */
    static String begin(String name) {
        return "<!-- " + name + " -->\n";
    }

    /** The line after it. */
    static String end(String name) {
        return "<!-- end of " + name + " -->";
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
