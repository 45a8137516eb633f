package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Signals for which Java has no method. */
public final class Signals {

    private Signals() {}

    /** Stops a process; it stands still when this returns. */
    public static void stop(long pid) {
        send("-STOP", pid);
    }

    /** Lets a stopped process go on. */
    public static void resume(long pid) {
        send("-CONT", pid);
    }

    private static void send(String signal, long pid) {
        try {
            int code = new ProcessBuilder("kill", signal, Long.toString(pid))
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill " + signal + " " + pid + " ended with " + code);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
