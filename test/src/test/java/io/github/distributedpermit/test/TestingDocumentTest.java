package io.github.distributedpermit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The examples of {@code docs/testing.md} are parts of the tests beside this one, so the build compiles and runs them. */
class TestingDocumentTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "testing.md");

    @Test
    void everyExampleIsPartOfATest() throws IOException {
        List<String> sources;
        try (Stream<Path> files = Files.walk(Path.of("src", "test", "java", "com"))) {
            sources = files.filter(Files::isRegularFile)
                    .map(TestingDocumentTest::read)
                    .map(TestingDocumentTest::unindented)
                    .toList();
        }
        List<String> examples = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(DOCUMENT))
                .results()
                .map(match -> match.group(1))
                .toList();

        assertThat(examples)
                .hasSizeGreaterThan(5)
                .allSatisfy(example ->
                        assertThat(sources).as(example).anyMatch(source -> source.contains(unindented(example))));
    }

    private static String unindented(String text) {
        return text.lines().map(String::strip).collect(Collectors.joining("\n"));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
