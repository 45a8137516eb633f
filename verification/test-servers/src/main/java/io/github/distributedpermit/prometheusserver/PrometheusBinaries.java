package io.github.distributedpermit.prometheusserver;

import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.packages.Kept;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The programs {@code prometheus} and {@code promtool}: in the directory that the system property {@value #PROPERTY} names, or on
 * the PATH, or from Debian's package, unpacked below the user's cache. Where neither can be had, tests are skipped with one loud
 * line, or fail if the environment says {@code CI=true}.
 */
public final class PrometheusBinaries {

    /** Names a directory that has both programs. */
    public static final String PROPERTY = "prometheus.directory";

    private static final String SERVER = "prometheus";
    private static final String TOOL = "promtool";
    private static final String REMEDY =
            "No Prometheus for the tests: put 'prometheus' and 'promtool' on the PATH, or name"
                    + " their directory with -D" + PROPERTY + "=/path. Debian needs none of it but a reachable mirror.";
    private static final Optional<Path> FOUND = find();

    private PrometheusBinaries() {}

    /** The server. Skips the test if there is none. */
    public static Path server() {
        return require().resolve(SERVER);
    }

    /** The tool that checks rules. Skips the test if there is none. */
    public static Path tool() {
        return require().resolve(TOOL);
    }

    private static Path require() {
        if (FOUND.isEmpty()) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY);
            }
            System.getLogger(PrometheusBinaries.class.getName())
                    .log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
            Assumptions.abort(REMEDY);
        }
        return FOUND.orElseThrow();
    }

    private static Optional<Path> find() {
        String given = System.getProperty(PROPERTY);
        if (given != null) {
            return Optional.of(Path.of(given));
        }
        Optional<Path> installed = Stream.of(System.getenv("PATH").split(java.io.File.pathSeparator))
                .map(Path::of)
                .filter(PrometheusBinaries::hasBoth)
                .findFirst();
        return installed.or(PrometheusBinaries::kept);
    }

    private static Optional<Path> kept() {
        Path programs = Path.of("root", "usr", "bin");
        Path directory = Kept.folder(SERVER, folder -> hasBoth(folder.resolve(programs)), PrometheusBinaries::fetch)
                .resolve(programs);
        return hasBoth(directory) ? Optional.of(directory) : Optional.empty();
    }

    private static void fetch(Path folder) throws IOException {
        DebianPackages.fetch(folder, "bookworm", SERVER);
    }

    private static boolean hasBoth(Path directory) {
        return Files.isExecutable(directory.resolve(SERVER)) && Files.isExecutable(directory.resolve(TOOL));
    }
}
