package io.github.distributedpermit.packages;

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
import java.util.function.Predicate;

/** What is fetched once and kept below the user's cache; processes that want the same wait for each other. */
public final class Kept {

    private Kept() {}

    /** Brings something into a folder. */
    @FunctionalInterface
    public interface Fetch {
        void into(Path folder) throws IOException;
    }

    /** The folder of that name; what is wanted has been fetched into it if that could be done. */
    public static Path folder(String name, Predicate<Path> isThere, Fetch fetch) {
        Path folder = Path.of(System.getProperty("user.home"), ".cache", "distributed-permit", name);
        try {
            Files.createDirectories(folder);
            try (FileChannel channel = FileChannel.open(
                            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock lock = channel.lock()) {
                if (lock.isValid() && !isThere.test(folder)) {
                    fetch.into(folder);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return folder;
    }

    /**
     * Runs a script of ours, with the folder as its first argument. Whether it ended well within three minutes; what it
     * says is in {@code fetch.log}.
     */
    public static boolean runs(Path folder, String name, String... arguments) throws IOException {
        Path script = Files.createTempFile(folder, "fetch", ".sh");
        try (InputStream source = Kept.class.getResourceAsStream("/" + name)) {
            Files.write(script, source == null ? new byte[0] : source.readAllBytes());
            List<String> command = new ArrayList<>(List.of("sh", script.toString(), folder.toString()));
            command.addAll(List.of(arguments));
            Path log = folder.resolve("fetch.log");
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            if (process.waitFor(3, TimeUnit.MINUTES)) {
                return process.exitValue() == 0;
            }
            process.destroyForcibly();
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            Files.delete(script);
        }
    }
}
