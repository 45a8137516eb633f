package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What is in packages of Debian 12, fetched once from this machine's own mirror and kept below the user's cache. */
final class DebianPackages {

    private static final String SUITE = "bookworm";
    private static final String SCRIPT = "/debian-packages.sh";

    private DebianPackages() {}

    /** The folder into which they are unpacked; the name is that of all of them together. */
    static Path unpacked(String name, String... packages) {
        Path folder = Path.of(System.getProperty("user.home"), ".cache", "distributed-permit", name);
        Path root = folder.resolve("root");
        try {
            Files.createDirectories(folder);
            try (FileChannel channel = FileChannel.open(
                            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (lock.isValid() && !Files.isDirectory(root)) {
                    fetch(folder, packages);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return root;
    }

    /** The one file of that name below the folder. */
    static Path file(Path folder, String name) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.getFileName().toString().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("There is no " + name + " below " + folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void fetch(Path folder, String... packages) throws IOException {
        Path log = folder.resolve("fetch.log");
        Path script = Files.createTempFile(folder, "fetch", ".sh");
        try (InputStream source = DebianPackages.class.getResourceAsStream(SCRIPT)) {
            Files.write(script, source == null ? new byte[0] : source.readAllBytes());
            List<String> command = new ArrayList<>(List.of("sh", script.toString(), folder.toString(), SUITE));
            command.addAll(List.of(packages));
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            if (!process.waitFor(3, TimeUnit.MINUTES) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException("Debian's packages could not be fetched; see " + log);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            Files.delete(script);
        }
    }
}
