package io.github.distributedpermit.harness.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Recorded results, in one file per suite, and the tables of {@code docs/faults.md} that are made of them. */
public final class Results {

    private static final Path RESULTS = Path.of("verification", "harness", "results");
    private static final Path FAULTS = RESULTS.resolve("faults.json");
    private static final Path MUTANTS = RESULTS.resolve("mutants.json");
    private static final Path PAGE = Path.of("docs", "faults.md");

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES) // older results have fewer values
            .build();

    private Results() {}

    /** Writes it beside the history. */
    public static void write(Path folder, Result result) throws IOException {
        Files.writeString(folder.resolve("result.json"), JSON.writeValueAsString(result) + "\n");
    }

    /** Replaces the result of the same scenario, and makes the table of all results. */
    public static void record(Result result) throws IOException {
        replace("results", Table.of(keep(FAULTS, result, Result[].class, Result::scenario)));
    }

    /** Replaces the result of the same mutant, and makes the table of all mutants. */
    public static void record(Caught mutant) throws IOException {
        replace("mutants", Table.ofMutants(keep(MUTANTS, mutant, Caught[].class, Caught::mutant)));
    }

    /** A name, perhaps with options, as that of a file or folder. */
    public static String fileName(String name) {
        return name.replace("--", "").replace(' ', '-');
    }

    private static <T> List<T> keep(Path suite, T result, Class<T[]> type, Function<T, String> name)
            throws IOException {
        Map<String, T> kept = new TreeMap<>();
        if (Files.exists(suite)) {
            for (T each : JSON.readValue(Files.readString(suite), type)) {
                kept.put(name.apply(each), each);
            }
        }
        kept.put(name.apply(result), result);
        Files.createDirectories(RESULTS);
        Files.writeString(suite, JSON.writeValueAsString(kept.values()) + "\n");
        return List.copyOf(kept.values());
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
