package io.github.distributedpermit.sample.server;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;

/**
 * The directory a shared server runs in. Its name tells that the server is ours, its pipe {@code alive} counts the
 * instances that use the server.
 */
record ServerDirectory(Path path) {

    private static final String PREFIX = "report-export-server-";
    private static final String PIPE = "alive";

    /** Makes a new one, with a pipe but no server yet. */
    static ServerDirectory create() throws IOException {
        ServerDirectory directory =
                new ServerDirectory(Files.createTempDirectory(PREFIX).toRealPath());
        Commands.run("mkfifo", "-m", "600", directory.pipe().toString());
        return directory;
    }

    boolean isOurs() {
        return String.valueOf(path.getFileName()).startsWith(PREFIX);
    }

    /** What the server and its guard write. */
    Path log() {
        return path.resolve("guard.log");
    }

    /** Keeps the server alive until what is returned here is closed, by the caller or by the end of this process. */
    Closeable hold() throws IOException {
        // opened for reading as well: otherwise this call blocks until a reader opens the pipe, and there may be none
        return FileChannel.open(pipe(), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** The last lines of the server's log, for messages. */
    String logTail() {
        if (!Files.isReadable(log())) {
            return "no log";
        }
        try (Stream<String> lines = Files.lines(log())) {
            String text = String.join(System.lineSeparator(), lines.toList());
            return text.substring(Math.max(0, text.length() - 1_000));
        } catch (IOException | UncheckedIOException e) {
            return "log unreadable: " + e;
        }
    }

    /** Puts a file of the application there. */
    void copy(String resource) throws IOException {
        try (InputStream in = ServerDirectory.class.getResourceAsStream("/embedded-server/" + resource)) {
            if (in == null) {
                throw new IOException("The application lacks /embedded-server/" + resource);
            }
            Files.copy(in, path.resolve(resource));
        }
    }

    private Path pipe() {
        return path.resolve(PIPE);
    }
}
