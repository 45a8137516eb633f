package io.github.distributedpermit.backend.consul;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which HTTP client, and so which pool of idle connections, the next request uses. Firewalls and load
 * balancers drop idle connections without closing them, so that a request sent over one of them times out. After a
 * time-out no idle connection is used again, and none is much older than a pool is used: the client is replaced, and closed
 * when its last request has ended. A pool never has more connections than requests were in flight at a time.
 * Thread-safe. {@link ConsulHttp} has one instance for requests and one for blocking queries. Its own monitor guards
 * all fields, also those of the pools; a client is created and closed while it is held, which happens once in many
 * requests.
 */
final class Connections {

    private static final String NAME = "distributed-permit-consul-http";

    private final Supplier<HttpClient> factory;
    /** In nanoseconds. */
    private final LongSupplier ticker;
    /** In nanoseconds. */
    private final long longestUse;
    /** Java 17 never forgets a thread group, so that they are used again. */
    private final Queue<ThreadGroup> unused = new ArrayDeque<>();

    /** The pool of the next request; {@code null} before the first one, after a time-out and after {@link #close}. */
    private @Nullable Pool current;

    private boolean closed;

    /**
     * @param longestUse how long new requests use the same pool
     * @param factory makes a client; runs on a thread whose group the client's threads inherit
     */
    Connections(Supplier<HttpClient> factory, LongSupplier ticker, Duration longestUse) {
        this.factory = factory;
        this.ticker = ticker;
        this.longestUse = TimeUnit.NANOSECONDS.convert(longestUse);
    }

    /**
     * For one request, which has to {@linkplain Pool#ended end}.
     *
     * @return the present client, or a new one if that has been in use for too long
     */
    synchronized Pool pool() {
        long now = ticker.getAsLong();
        Pool pool = current;
        if (pool == null || pool.isOld(now - longestUse)) {
            replace();
            ThreadGroup group = unused.poll();
            pool = new Pool(OwnedClient.of(factory, group == null ? new ThreadGroup(NAME) : group), now);
            // After the close each request, such as the end of the session, gets a client of its own that is closed
            // with it.
            pool.replaced = closed;
            current = closed ? null : pool;
        }
        pool.requests++;
        return pool;
    }

    /** The next request gets a new client; the present one is closed when its last request has ended. */
    private void replace() {
        Pool old = current;
        current = null;
        if (old != null) {
            old.replaced = true;
            old.closeIfUnused();
        }
    }

    /** No more requests are expected. Those in flight may end. */
    synchronized void close() {
        closed = true;
        replace();
    }

    /** A client and its requests. */
    final class Pool {

        private final OwnedClient client;
        private final long made;
        /** Requests under way. */
        private int requests;
        /** No further request uses it; it is closed when the last one has ended. */
        private boolean replaced;

        /** The client is closed only once, because its thread group is used again after that. */
        private boolean isClosed;

        private Pool(OwnedClient client, long made) {
            this.client = client;
            this.made = made;
        }

        /**
         * While requests are under way both pools would have connections for a moment, so that a pool which is never without
         * requests is used for twice as long; its connections are not idle.
         */
        private boolean isOld(long limit) {
            return limit - made > (requests == 0 ? 0 : longestUse);
        }

        HttpClient http() {
            return client.http();
        }

        /**
         * To be called exactly once for each {@link #pool()}: a request that is not counted down would keep the
         * client and its connections open.
         *
         * @param timedOut whether it had no answer in time
         */
        void ended(boolean timedOut) {
            synchronized (Connections.this) {
                requests--;
                if (timedOut && current == this) {
                    replace();
                } else {
                    closeIfUnused();
                }
            }
        }

        /** To be called with the monitor. */
        private void closeIfUnused() {
            if (replaced && requests == 0) {
                close();
            }
        }

        private void close() {
            if (!isClosed) {
                isClosed = true;
                // Returns at once, also if the client takes longer to close.
                client.close();
                unused.add(client.threads());
            }
        }
    }
}
