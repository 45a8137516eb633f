package io.github.distributedpermit.sample.server;

import java.io.IOException;
import java.io.InterruptedIOException;

/** Runs short commands of the operating system. */
final class Commands {

    private Commands() {}

    /** Waits for the command's end; fails if it does. */
    static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(String.join(" ", command) + " ended with status " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while running " + command[0]);
        }
    }
}
