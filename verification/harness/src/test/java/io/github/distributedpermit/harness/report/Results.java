package io.github.distributedpermit.harness.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Results as files, and the tables that are made of them. */
public final class Results {

    private static final Path RUNS = Path.of("verification", "harness", "results");
    private static final Path MISTAKES = RUNS.resolve("mutants");
    private static final Path PAGE = Path.of("docs", "faults.md");

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES) // results of before have fewer values
            .build();

    private Results() {}

    /** Writes it beside the history. */
    public static void write(Path folder, Result result) throws IOException {
        Files.writeString(folder.resolve("result.json"), JSON.writeValueAsString(result) + "\n");
    }

    /** Keeps it, and makes the table anew of all that are kept. */
    public static void record(Result result) throws IOException {
        keep(RUNS, result.scenario(), result);
        replace("results", Table.of(kept(RUNS, Result.class)));
    }

    /** Likewise. */
    public static void record(Caught mistake) throws IOException {
        keep(MISTAKES, mistake.mistake(), mistake);
        replace("mutants", Table.ofMistakes(kept(MISTAKES, Caught.class)));
    }

    /** A name, perhaps with options, as that of a file or folder. */
    public static String fileName(String name) {
        return name.replace("--", "").replace(' ', '-');
    }

    private static void keep(Path folder, String name, Object what) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(fileName(name) + ".json"), JSON.writeValueAsString(what) + "\n");
    }

    private static <T> List<T> kept(Path folder, Class<T> type) throws IOException {
        List<T> kept = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                kept.add(JSON.readValue(Files.readString(file), type));
            }
        }
        return kept;
    }

    private static void replace(String name, String table) throws IOException {
        String begin = "<!-- " + name + ": made by ./verification/harness/run --record -->\n";
        String page = Files.readString(PAGE);
        int marked = page.indexOf(begin);
        if (marked < 0) {
            throw new IllegalStateException(PAGE + " has no line " + begin);
        }
        int from = marked + begin.length();
        int to = page.indexOf("<!-- end -->", from);
        Files.writeString(PAGE, page.substring(0, from) + "\n" + table + "\n" + page.substring(to));
    }
}
