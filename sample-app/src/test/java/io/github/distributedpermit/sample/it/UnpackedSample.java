package io.github.distributedpermit.sample.it;

import io.github.distributedpermit.jvm.ClassArchive;
import io.github.distributedpermit.testsupport.Once;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The packaged application, unpacked by its own tools, with an archive of its classes: what Spring Boot documents for quick
 * starts. Prepared once for all tests, by the first that asks. Immutable.
 */
final class UnpackedSample {

    private static final Path PACKAGED = Path.of(System.getProperty("sample.jar", ""));
    private static final Path DIRECTORY = Path.of("target", "it-unpacked").toAbsolutePath();
    private static final Once<UnpackedSample> PREPARED = new Once<>(UnpackedSample::new);

    private final List<String> options;

    private UnpackedSample() {
        unpack();
        ClassArchive archive = new ClassArchive(DIRECTORY.resolve("classes.jsa"));
        record(archive);
        List<String> all = new ArrayList<>(archive.options());
        all.addAll(jar());
        options = List.copyOf(all);
    }

    /** Options of a JVM that runs it. */
    static List<String> options() {
        return PREPARED.get().options;
    }

    /** Options of a JVM that runs the application as it was packaged. */
    static List<String> packaged() {
        return List.of("-jar", PACKAGED.toString());
    }

    private static List<String> jar() {
        return List.of("-jar", DIRECTORY.resolve(PACKAGED.getFileName()).toString());
    }

    private static void unpack() {
        try {
            Process tools = new ProcessBuilder(
                            SampleInstance.java(),
                            "-Djarmode=tools",
                            "-jar",
                            PACKAGED.toString(),
                            "extract",
                            "--force",
                            "--destination",
                            DIRECTORY.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(Path.of("target", "it-unpacked.log").toFile())
                    .start();
            if (tools.waitFor() != 0) {
                throw new IllegalStateException("The application was not unpacked; see target/it-unpacked.log");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A short life with Redis: the start, one call of each kind that the tests make, the end. */
    private static void record(ClassArchive archive) {
        List<String> command = new ArrayList<>(archive.recording());
        command.addAll(jar());
        try (SampleInstance instance =
                SampleInstance.run("recording", command, "--sample.embedded-redis.port=" + Fleet.freePort())) {
            instance.awaitWell();
            instance.export(1, "0s").join();
            instance.exportNow(1, "0s").join();
            instance.gauge("holders");
            instance.terminate();
            instance.awaitEnd();
        }
    }
}
