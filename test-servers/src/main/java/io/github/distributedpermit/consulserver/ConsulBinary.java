package io.github.distributedpermit.consulserver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
                .map(directory -> Path.of(directory, "consul"))
                .filter(Files::isExecutable)
                .findFirst();
        return installed.or(ConsulBinary::kept);
    }

    private static Optional<Path> kept() {
        Path directory = Path.of(System.getProperty("user.home"), ".cache", "distributed-permit", "consul");
        Path program = directory.resolve("consul");
        try {
            Files.createDirectories(directory);
            try (FileChannel channel = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (lock.isValid() && !Files.isExecutable(program)) {
                    fetch(directory);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Files.isExecutable(program) ? Optional.of(program) : Optional.empty();
    }

    private static void fetch(Path directory) throws IOException {
        Path log = directory.resolve("fetch.log");
        Path script = Files.createTempFile(directory, "fetch", ".sh");
        for (String way : List.of("debian-consul.sh", "docker-consul.sh")) {
            try (InputStream source = ConsulBinary.class.getResourceAsStream("/consul/" + way)) {
                Files.write(script, source == null ? new byte[0] : source.readAllBytes());
            }
            if (runs(log, "sh", script.toString(), directory.toString(), IMAGE)) {
                break;
            }
        }
        Files.delete(script);
    }

    private static boolean runs(Path log, String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        try {
            if (process.waitFor(3, TimeUnit.MINUTES)) {
                return process.exitValue() == 0;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        return false;
    }
}
