package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.time.Duration;
import java.util.ArrayList;
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
 *
 * <p>Each reply contains the whole inbox. A notice is deleted with the return of its permits, and those of permits that are
 * held for longer in batches as soon as there are a few, so that the length of a reply does not grow with the keys that the
 * member uses. Confined to the event loop.
 *
 * <p>It passes notices to {@link KeyUses} and the end of the session to {@link Membership}. While the query fails, grants are
 * found by the re-check of the core, and the end of the session by {@link Renewals}.
 */
final class Inbox {

    private static final System.Logger LOG = System.getLogger(Inbox.class.getName());
    /**
     * How long Consul holds a query without a change. A connection that a firewall has dropped is noticed when the
     * query times out, a little later.
     */
    private static final Duration WAIT = Duration.ofSeconds(30);
    /** So many notices stay after they were read, so that most hand-overs cost no write for a deletion. */
    private static final int MOST_READ = 16;
    /** Deletions in one transaction: Consul takes 64 operations, and the last one is a read. */
    private static final int DELETIONS = 60;

    private final ConsulApi api;
    private final EventLoop loop;
    private final Session session;
    private final Consumer<KeyValue> reader;
    private final Consumer<String> unread;
    private final Supplier<CompletableFuture<Boolean>> confirmLoss;
    /** In nanoseconds: 50 ms, doubling to 2 s. */
    private final Backoff backoff = new Backoff(TimeUnit.MILLISECONDS.toNanos(50), TimeUnit.SECONDS.toNanos(2));

    private final RateLimitedLog problem;
    /** The next query returns when the inbox has a higher index than this; 0 to be answered at once. */
    private long index;
    /** The highest index of an entry that was passed on. Each reply contains all entries, so older ones are skipped. */
    private long read;
    /** A deletion of notices that were read is under way. */
    private boolean deleting;

    /**
     * For a session whose fence has been written.
     *
     * @param reader is given each entry that is new
     * @param unread is given the name of each entry that was deleted unread
     * @param confirmLoss is asked if the inbox seems to have vanished, and the session with it
     */
    Inbox(
            ConsulApi api,
            EventLoop loop,
            Session session,
            Consumer<KeyValue> reader,
            Consumer<String> unread,
            Supplier<CompletableFuture<Boolean>> confirmLoss) {
        this.api = api;
        this.loop = loop;
        this.session = session;
        this.reader = reader;
        this.unread = unread;
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
        if (reply == null && isTooLong(failure)) {
            warn(String.valueOf(failure));
            deleteUnread();
        } else if (reply == null) {
            failed(String.valueOf(failure));
        } else if (reply.isOk()) {
            read(reply);
        } else {
            confirm(); // Consul answers 404 to a query of a prefix without keys.
        }
    }

    private void failed(String reason) {
        warn(reason);
        again();
    }

    private void warn(String reason) {
        problem.warn("The blocking query for " + session.inboxes() + " in Consul failed and will be repeated: " + reason
                + ". Until it succeeds this member is not notified of grants and finds them with its next re-check");
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

    /**
     * Deletes notices that were passed on, once there are more than a few. One that another member has replaced since refuses the
     * transaction, and the next reply contains it. Nothing waits for the answer, and a failure is repeated by the next reply.
     */
    private void deleteRead(List<KeyValue> entries) {
        List<TxnOperation> ops = new ArrayList<>();
        for (KeyValue entry : entries) {
            if (ops.size() < DELETIONS && isGrant(entry.key())) {
                ops.add(TxnOperation.deleteCas(entry.key(), entry.modified()));
            }
        }
        if (deleting || ops.size() <= MOST_READ) {
            return;
        }
        deleting = true;
        delete(ops).whenComplete((outcome, failure) -> deleting = false);
    }

    private CompletableFuture<TxnOutcome> delete(List<TxnOperation> ops) {
        ops.add(TxnOperation.getTree(session.fenceKey()));
        return api.transact(ops);
    }

    private boolean isGrant(String key) {
        return isNotice(key) && !key.endsWith(KeyNames.CONTENTION);
    }

    private static boolean isTooLong(@Nullable Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof BoundedBody.TooLongException)) {
            cause = cause.getCause();
        }
        return cause != null;
    }

    /**
     * The inbox has more notices than a reply can have, such as after a long time in which no query succeeded. They are deleted
     * unread, and a claim of each key finds what they said.
     */
    private void deleteUnread() {
        api.names(session.inboxes())
                .whenComplete((reply, failure) -> guarded(() -> {
                    List<String> names = session.isOver() || reply == null || !reply.isOk()
                            ? List.of()
                            : ConsulApi.names(reply).stream()
                                    .filter(this::isGrant)
                                    .limit(DELETIONS)
                                    .toList();
                    if (names.isEmpty()) {
                        again();
                        return;
                    }
                    List<TxnOperation> ops = new ArrayList<>();
                    names.forEach(name -> ops.add(TxnOperation.delete(name)));
                    delete(ops)
                            .whenComplete((outcome, e) -> guarded(() -> {
                                // Also if it failed, because it may have been executed all the same.
                                names.forEach(name -> EventLoop.run(() -> unread.accept(name)));
                                again();
                            }));
                }));
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
        deleteRead(entries);
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
