package io.github.distributedpermit.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** How many calls a second go through ten permits that are held for a millisecond each, as bars, store by store. */
public final class Plot {

    private static final String LOAD = "limit 10, 200 threads, hold 1 ms";
    private static final String METRIC = "pairs per second";
    private static final List<String> STORES = List.of("", "ZooKeeper, ", "Consul, ");
    private static final double CEILING = 10_000;

    private static final int WIDTH = 760;
    private static final int LEFT = 210;
    private static final int RIGHT = 90;
    private static final int TOP = 64;
    private static final int BAR = 18;
    private static final int STEP = 26;
    private static final int GROUP = 26;

    private Plot() {}

    /** An SVG document. */
    public static String of(Report report) {
        StringBuilder bars = new StringBuilder();
        int y = TOP;
        for (String store : STORES) {
            List<Figure> figures = figures(report, store + LOAD).toList();
            if (figures.isEmpty()) {
                continue;
            }
            bars.append(text(16, y + 12, "start", "bold", store.isEmpty() ? "Redis" : store.replace(", ", "")));
            y += GROUP;
            for (Figure figure : figures) {
                bars.append(bar(figure, y));
                y += STEP;
            }
        }
        return document(bars.toString(), y);
    }

    private static Stream<Figure> figures(Report report, String load) {
        List<Figure> found = new ArrayList<>(report.figures());
        found.removeIf(
                figure -> !figure.workload().equals(load) || !figure.metric().equals(METRIC));
        return found.stream();
    }

    private static String bar(Figure figure, int y) {
        boolean ours = figure.contender().startsWith("ours");
        double value = figure.value().median();
        String name = ours ? "distributed-permit" : figure.contender();
        return text(LEFT - 8, y + 13, "end", ours ? "bold" : "normal", name)
                + String.format(
                        Locale.ROOT,
                        "  <rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
                        LEFT,
                        y,
                        Math.max(1, scale(value)),
                        BAR,
                        ours ? "#1a7f5a" : "#9aa5b1")
                + text(LEFT + (int) scale(value) + 6, y + 13, "start", "normal", TextReport.number(value) + "/s");
    }

    private static double scale(double value) {
        return value / CEILING * (WIDTH - LEFT - RIGHT);
    }

    private static String document(String bars, int bottom) {
        int ceiling = LEFT + (int) scale(CEILING);
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">%n",
                        WIDTH,
                        bottom + 12)
                + "  <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
                + text(16, 24, "start", "bold", "200 threads, 10 permits, each held for 1 ms: calls per second")
                + text(ceiling, 48, "middle", "normal", "what 10 permits allow")
                + String.format(
                        Locale.ROOT,
                        "  <line x1=\"%d\" y1=\"54\" x2=\"%d\" y2=\"%d\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/>%n",
                        ceiling,
                        ceiling,
                        bottom)
                + bars
                + "</svg>\n";
    }

    private static String text(int x, int y, String anchor, String weight, String words) {
        return String.format(
                Locale.ROOT,
                "  <text x=\"%d\" y=\"%d\" text-anchor=\"%s\" font-weight=\"%s\" fill=\"#1f2933\">%s</text>%n",
                x,
                y,
                anchor,
                weight,
                words.replace("&", "&amp;").replace("<", "&lt;"));
    }
}
