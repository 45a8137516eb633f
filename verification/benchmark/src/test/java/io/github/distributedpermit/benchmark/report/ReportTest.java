package io.github.distributedpermit.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.benchmark.load.Quartiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

    @TempDir
    Path folder;

    private final Report report = new Report(line -> {});

    @Test
    void medianDecidesWhetherAMarkIsReached() {
        report.row("a", "load", "x", new Quartiles(1, 2, 9), Mark.atMost(2));
        assertThat(report.isReached()).isTrue();
        report.row("b", "load", "x", new Quartiles(1, 2, 9), Mark.atLeast(2.1));
        assertThat(report.isReached()).isFalse();
    }

    @Test
    void valueThatIsNoNumberReachesNoMark() {
        assertThat(Mark.atMost(1).isReachedBy(Double.NaN)).isFalse();
        assertThat(Mark.atLeast(1).isReachedBy(Double.NaN)).isFalse();
    }

    @Test
    void whatWasSkippedIsNotReached() {
        report.skipped("Consul", "no program");
        assertThat(report.isReached()).isFalse();
        assertThat(TextReport.of(report)).contains("**Not measured:** Consul: no program");
    }

    @Test
    void violationsAddUpByContender() {
        report.observed(Map.of("ours", 1L, "peer", 5L));
        report.observed(Map.of("ours", 2L));
        assertThat(report.violations("ours"::equals)).isEqualTo(3);
    }

    @Test
    void jsonHasEveryRowAndEscapesText() {
        report.setting("name", "a \"quoted\" \\ text");
        report.row("metric", "load", "x", new Quartiles(1, Double.NaN, 3), Mark.atMost(2));
        assertThat(JsonReport.of(report))
                .contains("\"a \\\"quoted\\\" \\\\ text\"")
                .contains("\"median\": null")
                .contains("\"mark\": \"<= 2\", \"reached\": false");
    }

    @Test
    void plotShowsWhoTookPart() {
        report.figure("limit 10, 200 threads, hold 1 ms", "ours", "pairs per second", Quartiles.exactly(9000));
        report.figure("limit 10, 200 threads, hold 1 ms", "RSemaphore", "pairs per second", Quartiles.exactly(5000));
        assertThat(Plot.of(report))
                .contains("distributed-permit")
                .contains("RSemaphore")
                .contains("9,000/s");
    }

    @Test
    void pageTakesInWhatARunFoundAndKeepsTheRest() {
        report.begin("pairs");
        report.figure("one thread", "ours", "us", Quartiles.exactly(3));
        report.figure("one thread", "peer", "us", Quartiles.exactly(4));
        report.end("7 s");
        report.row("metric", "load", "x", Quartiles.exactly(1), Mark.atMost(2));
        String page =
                "A\n<!-- table -->\nold\n<!-- end of table -->\nB\n<!-- pairs -->\nold\n<!-- end of pairs -->\nC\n";
        assertThat(Document.of(page, report, true))
                .startsWith("A\n")
                .doesNotContain("old")
                .contains("| metric | load | 1.00 |", "*pairs: 7 s*", "| one thread | us |", "| peer | 4.00 |")
                .endsWith("<!-- end of pairs -->\nC\n");
        assertThat(Document.of(page, report, false)).contains("-->\nold\n<!-- end of table", "| peer | 4.00 |");
        assertThatThrownBy(() -> Document.of("no place", report, false)).hasMessageContaining("'pairs'");
    }

    @Test
    void missingPlaceIsNamedBeforeTheRunWithTheLinesToAdd() throws Exception {
        Path page = Files.writeString(
                folder.resolve("page.md"),
                "<!-- table -->\n<!-- end of table -->\n<!-- pairs -->\n<!-- end of pairs -->\n<!-- half -->\n");
        Document.requirePlaces(page, List.of("pairs"), true);
        Document.requirePlaces(page, List.of(), false);
        assertThatThrownBy(() -> Document.requirePlaces(page, List.of("pairs", "half", "new"), true))
                .isInstanceOf(MissingPlaceException.class)
                .hasMessageContaining("page.md")
                .hasMessageContaining("<!-- half -->\n<!-- end of half -->")
                .hasMessageContaining("<!-- new -->\n<!-- end of new -->")
                .message()
                .doesNotContain("pairs", "table -->");
    }

    @Test
    void wholeRunNeedsAPlaceForTheMarks() throws Exception {
        Path page = Files.writeString(folder.resolve("page.md"), "<!-- pairs -->\n<!-- end of pairs -->\n");
        Document.requirePlaces(page, List.of("pairs"), false);
        assertThatThrownBy(() -> Document.requirePlaces(page, List.of("pairs"), true))
                .hasMessageContaining("<!-- table -->\n<!-- end of table -->");
    }
}
