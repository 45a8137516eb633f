package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What documents say of tests is so, their links lead somewhere, and sheets of packages name all classes. */
class DocumentsTest {

    @ParameterizedTest
    @CsvSource({"bad-input.md, 50", "redis.md, 10"})
    void everyTestThatIsNamedExists(String page, int atLeast) throws IOException {
        Map<String, String> sources;
        try (Stream<Path> files = Files.walk(Path.of(".."))) {
            sources = files.filter(DocumentsTest::isSourceOfTests)
                    .collect(Collectors.toMap(
                            file -> file.getFileName().toString(), DocumentsTest::read, (one, other) -> one + other));
        }
        List<MatchResult> named = Pattern.compile("`(\\w+)\\.(\\w+)`")
                .matcher(Files.readString(Path.of("..", "docs", page)))
                .results()
                .toList();

        assertThat(named)
                .hasSizeGreaterThan(atLeast)
                .allSatisfy(test -> assertThat(sources.getOrDefault(test.group(1) + ".java", ""))
                        .as(test.group())
                        .contains(" void " + test.group(2) + "("));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "engine/core/src/main/java/io/github/distributedpermit",
                "autoconfigure/src/main/java/io/github/distributedpermit/endpoint",
                "ui/src/main/java"
            })
    void everyMonitorIsInTheListOfLocks(String sources) throws IOException {
        String list = Files.readString(Path.of("..", "docs", "architecture.md"))
                .replaceAll("(?s)^.*\\n## Locks\\n|\\n## .*", "");
        List<String> classes;
        try (Stream<Path> files = Files.walk(Path.of("..", sources))) {
            classes = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> read(file).contains("synchronized "))
                    .map(file -> "`" + file.getFileName().toString().replace(".java", "`"))
                    .toList();
        }
        assertThat(classes).isNotEmpty();
        assertThat(list).contains(classes);
    }

    @Test
    void everyLinkToAFileFindsIt() throws IOException {
        List<Path> pages;
        try (Stream<Path> root = Files.list(Path.of(".."));
                Stream<Path> docs = Files.walk(Path.of("..", "docs"))) {
            pages = Stream.concat(root, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }

        assertThat(pages)
                .hasSizeGreaterThan(40)
                .allSatisfy(page -> Pattern.compile("]\\(([^)\\s#]+)")
                        .matcher(Files.readString(page))
                        .results()
                        .map(link -> link.group(1))
                        .filter(link -> !link.contains("://"))
                        .forEach(link -> assertThat(page.resolveSibling(link))
                                .as("linked by %s", page)
                                .exists()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "core/src/main/java/io/github/distributedpermit/core/key",
                "redis/src/main/java/io/github/distributedpermit/backend/redis"
            })
    void everyClassIsOnTheSheetOfItsPackage(String of) throws IOException {
        Path classes = Path.of("..", "engine", of);
        String sheet = Files.readString(classes.resolve("package-info.java"));
        try (Stream<Path> files = Files.list(classes)) {
            assertThat(files.map(file -> file.getFileName().toString().replace(".java", ""))
                            .filter(name -> !name.equals("package-info")))
                    .hasSizeGreaterThan(30)
                    .allSatisfy(name -> assertThat(sheet).containsPattern("\\b" + name + "\\b"));
        }
    }

    /** A test class of any module, or a law of the contract. */
    private static boolean isSourceOfTests(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith("Test.java") || name.endsWith("Laws.java");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
