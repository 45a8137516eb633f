package io.github.distributedpermit.backend.consul;

import java.net.http.HttpClient;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP client of the JDK that can be closed together with its idle connections. Thread-safe.
 *
 * <p>Until Java 21 {@link HttpClient} has no such method: it closes when it is garbage collected, which may take hours,
 * and keeps idle connections for 20 minutes, which only a system property of the whole JVM changes. It does close at once
 * when its selector thread is interrupted. That thread belongs to the thread group of the thread that makes the client,
 * so that each client in use has a group of its own.
 */
final class OwnedClient {

    private static final System.Logger LOG = System.getLogger(OwnedClient.class.getName());
    private static final String NAME = "distributed-permit-consul-http";

    private final HttpClient client;
    /** The group of the client's threads, in which no other client has any. */
    private final ThreadGroup threads;

    private OwnedClient(HttpClient client, ThreadGroup threads) {
        this.client = client;
        this.threads = threads;
    }

    /** @param threads in which there is no other client that is in use */
    static OwnedClient of(Supplier<HttpClient> factory, ThreadGroup threads) {
        AtomicReference<@Nullable HttpClient> made = new AtomicReference<>();
        Thread maker = new Thread(threads, () -> made.set(factory.get()), NAME);
        maker.setDaemon(true);
        // The failure shows again below, where the client is made once more on the calling thread.
        maker.setUncaughtExceptionHandler(
                (thread, failure) -> LOG.log(System.Logger.Level.DEBUG, "No HTTP client was made", failure));
        maker.start();
        boolean interrupted = false;
        // Waits without regard to interrupts, since the calling thread needs the client; the flag is restored
        // afterwards.
        while (maker.isAlive()) {
            try {
                maker.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        HttpClient client = made.get();
        // A client made by this thread has its selector thread in the wrong group, so that close() cannot end it
        // before Java 21.
        return new OwnedClient(client == null ? factory.get() : client, threads);
    }

    /** To be used for another client when this one is closed. */
    ThreadGroup threads() {
        return threads;
    }

    /** Not to be closed by the caller. */
    HttpClient http() {
        return client;
    }

    /**
     * Closes all connections, also those in use. Returns at once. If no thread can be created now, the client closes when
     * it is garbage collected.
     */
    void close() {
        // AutoCloseable since Java 21; with the type HttpClient the check would not compile for Java 17.
        Object closing = client;
        if (!(closing instanceof AutoCloseable closeable)) {
            threads.interrupt();
            return;
        }
        // HttpClient.close() waits for exchanges, which the event loop must not.
        Thread closer = new Thread(
                () -> {
                    try {
                        closeable.close();
                    } catch (Exception e) {
                        LOG.log(System.Logger.Level.DEBUG, "An HTTP client was not closed", e);
                    }
                },
                NAME + "-close");
        closer.setDaemon(true);
        try {
            closer.start();
        } catch (OutOfMemoryError e) {
            LOG.log(System.Logger.Level.DEBUG, "No thread is left to close an HTTP client", e);
        }
        closer.interrupt(); // it waits for no exchange then
    }
}
