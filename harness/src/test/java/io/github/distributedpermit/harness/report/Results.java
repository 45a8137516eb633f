package io.github.distributedpermit.harness.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Results as files, and the table that is made of them. */
public final class Results {

    private static final Path RECORDED = Path.of("harness", "results");
    private static final Path TABLE = Path.of("docs", "faults.md");
    private static final String BEGIN = "<!-- made by ./harness/run --record -->";
    private static final String END = "<!-- end -->";

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private Results() {}

    /** Writes it beside the history. */
    public static void write(Path folder, Result result) throws IOException {
        Path file = folder.resolve("result.json");
        Files.writeString(file, JSON.writeValueAsString(result) + "\n");
    }

    /** Keeps it, and makes the table anew of all that are kept. */
    public static void record(Result result) throws IOException {
        Files.createDirectories(RECORDED);
        Files.writeString(RECORDED.resolve(result.scenario() + ".json"), JSON.writeValueAsString(result) + "\n");
        String page = Files.readString(TABLE);
        int from = page.indexOf(BEGIN) + BEGIN.length();
        int to = page.indexOf(END);
        Files.writeString(TABLE, page.substring(0, from) + "\n" + Table.of(recorded()) + page.substring(to));
    }

    private static List<Result> recorded() throws IOException {
        List<Result> results = new ArrayList<>();
        try (Stream<Path> files = Files.list(RECORDED)) {
            for (Path file : files.sorted().toList()) {
                results.add(JSON.readValue(Files.readString(file), Result.class));
            }
        }
        return results;
    }
}
