package io.github.distributedpermit.sample.redis;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import redis.embedded.core.ExecutableProvider;

/**
 * A server this process has started, with the guard that ends it when no process holds its directory any more. The server
 * is no child in the usual sense: it goes on when this process ends while others hold it.
 *
 * @param directory where it runs
 * @param hold keeps it alive while it starts
 */
record StartedServer(ServerDirectory directory, Closeable hold) implements Closeable {

    /** Starts it; whether it got the port shows only later. */
    static StartedServer start(int port) throws IOException {
        ServerDirectory directory = ServerDirectory.create();
        Path path = directory.path();
        File executable =
                ExecutableProvider.newJarResourceProvider(path.toFile()).get();
        copy("redis.conf", path);
        copy("guard.sh", path);
        Closeable hold = directory.hold();
        List<String> command = List.of(
                "sh", "guard.sh", executable.getPath(), "redis.conf", "--port", "" + port, "--dir", path.toString());
        try {
            File guardLog = path.resolve("guard.log").toFile();
            new ProcessBuilder(command)
                    .directory(path.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(guardLog)
                    .redirectError(ProcessBuilder.Redirect.appendTo(guardLog))
                    .start();
        } catch (IOException e) {
            hold.close();
            throw e;
        }
        return new StartedServer(directory, hold);
    }

    @Override
    public void close() throws IOException {
        hold.close();
    }

    private static void copy(String resource, Path directory) throws IOException {
        try (InputStream in = StartedServer.class.getResourceAsStream("/embedded-redis/" + resource)) {
            if (in == null) {
                throw new IOException("The application lacks /embedded-redis/" + resource);
            }
            Files.copy(in, directory.resolve(resource));
        }
    }
}
