package io.github.distributedpermit.harness.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PlantedTest {

    @TempDir
    private Path folder;

    /** The long form, which looks for them, is not run with every change of what they change. */
    @ParameterizedTest
    @EnumSource
    void mistakeCanStillBePlanted(Planted mistake) throws Exception {
        mistake.patch().into(folder);
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> planted = files.filter(Files::isRegularFile).toList();
            assertThat(planted).isNotEmpty();
        }
    }
}
