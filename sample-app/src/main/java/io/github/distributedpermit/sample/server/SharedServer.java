package io.github.distributedpermit.sample.server;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server that all instances on this machine share. The first one starts it, it ends with the last one, and if it dies
 * before that, the instances that are left start it again. Thread-safe.
 */
final class SharedServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SharedServer.class);

    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final long LOOK_AGAIN_MILLIS = 20;
    private static final long TRY_AGAIN_MILLIS = 1_000;

    private final ServerKind kind;
    private final int port;
    private final Runnable rejoined;
    private final Thread watcher;
    private Membership membership;
    private boolean closed;

    /**
     * Joins the server or starts it; returns when it answers.
     *
     * @param rejoined runs each time the server has been joined or started again, since it may be a new one, which begins empty
     */
    SharedServer(ServerKind kind, int port, Runnable rejoined) {
        this.kind = kind;
        this.port = port;
        this.rejoined = rejoined;
        try {
            this.membership = joinOrStart();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.watcher = new Thread(this::watch, "embedded-server-watcher");
        watcher.setDaemon(true);
        watcher.start();
    }

    int port() {
        return port;
    }

    /** Where the server runs now. */
    synchronized ServerDirectory directory() {
        return membership.directory();
    }

    /** Lets go of the server, which ends if no other instance uses it. */
    @Override
    public void close() throws IOException {
        synchronized (this) {
            closed = true;
            membership.close();
        }
        watcher.interrupt();
    }

    private Membership joinOrStart() throws IOException {
        long since = System.nanoTime();
        @Nullable StartedServer started = null;
        try {
            while (true) {
                Optional<Membership> joined = Membership.join(kind, port);
                if (joined.isPresent()) {
                    log(joined.get(), started);
                    return joined.get();
                }
                if (started == null) {
                    started = StartedServer.start(kind, port);
                    since = System.nanoTime();
                } else if (System.nanoTime() - since > START_TIMEOUT.toNanos()) {
                    throw new IOException(
                            "No %s server answers on port %d after %s; the log of the one started here ends with: %s"
                                    .formatted(
                                            kind.title(),
                                            port,
                                            START_TIMEOUT,
                                            started.directory().logTail()));
                }
                pause(LOOK_AGAIN_MILLIS);
            }
        } finally {
            // by now either held by the membership, or not needed: another instance was faster
            if (started != null) {
                started.close();
            }
        }
    }

    private void log(Membership joined, @Nullable StartedServer started) {
        boolean own = started != null && started.directory().equals(joined.directory());
        log.info(
                "{} the {} server on {}:{}, in {}; it ends with the last instance that uses it",
                own ? "Started" : "Joined",
                kind.title(),
                ServerKind.HOST,
                port,
                joined.directory().path());
    }

    private void watch() {
        while (true) {
            Membership current;
            synchronized (this) {
                current = membership;
            }
            current.link().awaitEnd();
            if (isClosed()) {
                return;
            }
            log.warn(
                    "The {} server on port {} has closed its connection; joining it again, or starting a new one,"
                            + " which begins empty: permits held at this moment are lost or claimed anew",
                    kind.title(),
                    port);
            if (!rejoin(current)) {
                return;
            }
        }
    }

    private boolean rejoin(Membership former) {
        while (true) {
            try {
                Membership next = joinOrStart();
                former.close();
                synchronized (this) {
                    if (closed) {
                        next.close();
                        return false;
                    }
                    membership = next;
                }
                rejoined.run();
                return true;
            } catch (IOException | RuntimeException e) {
                if (isClosed()) {
                    return false;
                }
                log.error(
                        "There is no {} server on port {} and none could be started; trying again",
                        kind.title(),
                        port,
                        e);
            }
            try {
                pause(TRY_AGAIN_MILLIS);
            } catch (InterruptedIOException e) {
                return false;
            }
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private static void pause(long millis) throws InterruptedIOException {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for the server");
        }
    }
}
