package io.github.distributedpermit.sample.server;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A server this process has started, with the guard that ends it when no process holds its directory any more. The server
 * is no child in the usual sense: it goes on when this process ends while others hold it.
 *
 * @param directory where it runs
 * @param hold keeps it alive while it starts
 */
record StartedServer(ServerDirectory directory, Closeable hold) implements Closeable {

    /** Starts it; whether it got the port shows only later. */
    static StartedServer start(ServerKind kind, int port) throws IOException {
        ServerDirectory directory = ServerDirectory.create();
        Path path = directory.path();
        directory.copy("guard.sh");
        List<String> command = new ArrayList<>(List.of("sh", "guard.sh", kind.stopSignal()));
        command.addAll(kind.prepare(directory, port));
        Closeable hold = directory.hold();
        try {
            File guardLog = directory.log().toFile();
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
}
