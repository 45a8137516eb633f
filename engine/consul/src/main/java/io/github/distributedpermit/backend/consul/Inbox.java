package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one blocking query of a member, for all keys. It is on the inbox of the session, and returns when another member has
 * served this one or has begun to wait for its permits, and when the session has ended and Consul has deleted the inbox. The
 * fence is written before the first query, because a query on a prefix without keys returns after any write to Consul.
 * Confined to the event loop.
 *
 * <p>{@link Membership} creates one for each session. It passes notices to {@link KeyUses} and the end of the session
 * to {@link Membership}. While the query fails, grants are found by the re-check of the core, and the end of the
 * session by {@link Renewals}.
 */
final class Inbox {

    private static final System.Logger LOG = System.getLogger(Inbox.class.getName());
    /**
     * How long Consul holds a query without a change. A connection that a firewall has dropped is noticed when the
     * query times out, a little later.
     */
    private static final Duration WAIT = Duration.ofSeconds(30);

    private final ConsulApi api;
    private final EventLoop loop;
    private final Session session;
    private final Consumer<KeyValue> reader;
    private final Supplier<CompletableFuture<Boolean>> confirmLoss;
    /** In nanoseconds: 50 ms, doubling to 2 s. */
    private final Backoff backoff = new Backoff(TimeUnit.MILLISECONDS.toNanos(50), TimeUnit.SECONDS.toNanos(2));

    private final RateLimitedLog problem;
    /** The next query returns when the inbox has a higher index than this; 0 to be answered at once. */
    private long index;
    /** The highest index of an entry that was passed on. Each reply contains all entries, so older ones are skipped. */
    private long read;

    /**
     * For a session whose fence has been written.
     *
     * @param reader is given each entry that is new
     * @param confirmLoss is asked if the inbox seems to have vanished, and the session with it
     */
    Inbox(
            ConsulApi api,
            EventLoop loop,
            Session session,
            Consumer<KeyValue> reader,
            Supplier<CompletableFuture<Boolean>> confirmLoss) {
        this.api = api;
        this.loop = loop;
        this.session = session;
        this.reader = reader;
        this.confirmLoss = confirmLoss;
        this.read = session.fence();
        this.problem = new RateLimitedLog(LOG, loop::now);
    }

    /**
     * Sends the next query; one is under way at any time, as long as the session lasts. The next query begins when
     * the answer to this one was processed.
     */
    void watch() {
        guarded(() -> {
            if (!session.isOver()) {
                api.watch(session.inboxes(), index, WAIT)
                        .whenComplete((reply, failure) -> guarded(() -> answered(reply, failure)));
            }
        });
    }

    /** Whatever a part of a query throws, the next query follows; its answer contains the whole inbox again. */
    private void guarded(Runnable part) {
        EventLoop.run(part, failure -> again());
    }

    private void answered(@Nullable Reply reply, @Nullable Throwable failure) {
        if (session.isOver()) {
            return;
        }
        if (reply == null) {
            failed(String.valueOf(failure));
        } else if (reply.isOk()) {
            read(reply);
        } else {
            confirm(); // Consul answers 404 to a query of a prefix without keys.
        }
    }

    private void failed(String reason) {
        problem.warn("The blocking query for " + session.inboxes() + " in Consul failed and will be repeated: " + reason
                + ". Until it succeeds this member is not notified of grants and finds them with its next re-check");
        again();
    }

    /** From the beginning, because nothing is known of the index of the server that has answered. */
    private void again() {
        index = 0;
        loop.later(this::watch, backoff.next());
    }

    /**
     * A reply does not contain what must be there. Consul may have answered before it has replayed its log, or the token may
     * have lost its right to read, so that only a consistent read shows a loss. If the loss is not confirmed the query begins
     * anew.
     */
    private void confirm() {
        confirmLoss
                .get()
                .whenComplete((lost, failure) -> guarded(() -> {
                    if (!session.isOver()) {
                        again();
                    }
                }));
    }

    /** Whether a reply contains the keys by which the ends of the member's sessions are noticed. */
    private boolean isWhole(List<KeyValue> entries, Reply reply) {
        return session.isWhole(entries.stream().map(KeyValue::key).collect(Collectors.toSet()), reply.index());
    }

    /**
     * The fence and the keys of additional sessions are hidden entries: their presence counts, and their content does
     * not.
     */
    private boolean isNotice(String key) {
        String hidden = session.inboxes() + '.';
        return !key.startsWith(hidden) || key.endsWith(KeyNames.CONTENTION);
    }

    /** Passes on what is new, and begins the next query at the index of this reply. */
    private void read(Reply reply) {
        List<KeyValue> entries;
        try {
            entries = ConsulApi.entries(reply);
        } catch (MalformedJsonException e) {
            failed("its answer makes no sense: " + e.getMessage());
            return;
        }
        // The fence or the key of an additional session is missing.
        if (!isWhole(entries, reply)) {
            confirm();
            return;
        }
        problem.over();
        // A reply contains the whole inbox, in which entries stay after they were read.
        long before = read;
        for (KeyValue entry : entries) {
            read = Math.max(read, entry.modified());
            if (entry.modified() > before && isNotice(entry.key())) {
                // One that cannot be passed on keeps no other from being passed on.
                EventLoop.run(() -> reader.accept(entry));
            }
        }
        if (reply.index() < index) {
            // The agent has lost its state: a query that waits for the old index would return much too late.
            again();
        } else {
            index = reply.index(); // a change between this reply and the next query returns that query at once
            backoff.reset();
            watch();
        }
    }
}
