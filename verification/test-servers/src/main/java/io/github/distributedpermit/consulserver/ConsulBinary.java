package io.github.distributedpermit.consulserver;

import io.github.distributedpermit.packages.DebianPackages;
import io.github.distributedpermit.packages.Kept;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * The {@code consul} program: given by the system property {@value #PROPERTY}, or on the PATH, or kept from an earlier
 * run, or fetched: on Debian from its own mirror, elsewhere out of Docker's image. Where none can be had, tests are
 * skipped with one loud line, or fail if the environment says {@code CI=true}.
 */
public final class ConsulBinary {

    /** Names a program to use. */
    public static final String PROPERTY = "consul.binary";

    private static final String PROGRAM = "consul";
    private static final String IMAGE = "hashicorp/consul:1.20";
    private static final String REMEDY = "No Consul for the tests: put 'consul' on the PATH, or name it with -D"
            + PROPERTY + "=/path/to/consul, or start Docker. Debian needs none of it but a reachable mirror.";
    private static final Optional<Path> FOUND = find();

    private ConsulBinary() {}

    /** Skips the test if there is none. */
    public static Path require() {
        if (FOUND.isEmpty()) {
            if ("true".equals(System.getenv("CI"))) {
                throw new AssertionError(REMEDY);
            }
            System.getLogger(ConsulBinary.class.getName()).log(System.Logger.Level.ERROR, "TESTS SKIPPED. " + REMEDY);
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
                .map(directory -> Path.of(directory, PROGRAM))
                .filter(Files::isExecutable)
                .findFirst();
        return installed.or(ConsulBinary::kept);
    }

    private static Optional<Path> kept() {
        Path program = Kept.folder(PROGRAM, folder -> Files.isExecutable(folder.resolve(PROGRAM)), ConsulBinary::fetch)
                .resolve(PROGRAM);
        return Files.isExecutable(program) ? Optional.of(program) : Optional.empty();
    }

    /** Later releases of Debian have no such package, but it runs on them as it is. */
    private static void fetch(Path folder) throws IOException {
        if (DebianPackages.fetch(folder, "bullseye", PROGRAM)) {
            Files.move(folder.resolve("root/usr/bin").resolve(PROGRAM), folder.resolve(PROGRAM));
        } else {
            Kept.runs(folder, "docker-consul.sh", IMAGE);
        }
    }
}
