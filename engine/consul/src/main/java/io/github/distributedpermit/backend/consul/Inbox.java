package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The one blocking query of a member, on the inbox of its session: it wakes when the member is served, and when its
 * session is gone. Confined to the loop.
 */
final class Inbox {

    private static final System.Logger LOG = System.getLogger(Inbox.class.getName());
    private static final Duration WAIT = Duration.ofSeconds(30);

    private final ConsulApi api;
    private final EventLoop loop;
    private final Session session;
    private final Consumer<KeyValue> reader;
    private final Runnable gone;
    private final Backoff backoff = new Backoff(TimeUnit.MILLISECONDS.toNanos(50), TimeUnit.SECONDS.toNanos(2));
    private final RateLimitedLog problem;
    private long index;
    private long read;

    /**
     * For a session whose fence has been written.
     *
     * @param reader is given each entry that is new
     * @param gone runs once, when the inbox has vanished, and the session with it
     */
    Inbox(ConsulApi api, EventLoop loop, Session session, Consumer<KeyValue> reader, Runnable gone) {
        this.api = api;
        this.loop = loop;
        this.session = session;
        this.reader = reader;
        this.gone = gone;
        this.read = session.fence();
        this.problem = new RateLimitedLog(LOG, loop::now);
    }

    void watch() {
        if (!session.isOver()) {
            api.watch(session.inboxes(), index, WAIT).whenComplete(this::answered);
        }
    }

    private void answered(@Nullable Reply reply, @Nullable Throwable failure) {
        if (session.isOver()) {
            return;
        }
        if (reply != null && reply.status() == 404) {
            confirm();
        } else if (reply != null && reply.isOk()) {
            read(reply);
        } else {
            problem.warn(
                    "The blocking query for " + session.inboxes() + " in Consul failed and will be repeated: "
                            + (reply == null ? failure : reply.failure("it").getMessage())
                            + ". Until it succeeds this member is not notified of grants and finds them with its next re-check");
            loop.later(this::watch, backoff.next());
        }
    }

    /** What seems to be gone may only not be there yet. */
    private void confirm() {
        api.consistent(session.inboxes()).whenComplete((reply, failure) -> {
            if (session.isOver()) {
                return;
            }
            if (reply != null && (reply.status() == 404 || (reply.isOk() && !isWholeIn(reply)))) {
                gone.run();
            } else {
                index = 0;
                loop.later(this::watch, backoff.next());
            }
        });
    }

    private boolean isWholeIn(Reply reply) {
        try {
            return isWhole(ConsulApi.entries(reply), reply);
        } catch (MalformedJsonException e) {
            return true; // it says nothing
        }
    }

    private boolean isWhole(List<KeyValue> entries, Reply reply) {
        return session.isWhole(entries.stream().map(KeyValue::key).collect(Collectors.toSet()), reply.index());
    }

    private boolean isNotice(String key) {
        String hidden = session.inboxes() + '.';
        return !key.startsWith(hidden) || key.endsWith(KeyNames.CONTENTION);
    }

    private void read(Reply reply) {
        List<KeyValue> entries;
        try {
            entries = ConsulApi.entries(reply);
        } catch (MalformedJsonException e) {
            LOG.log(System.Logger.Level.WARNING, "Consul's answer to a blocking query makes no sense", e);
            loop.later(this::watch, backoff.next());
            return;
        }
        if (!isWhole(entries, reply)) {
            confirm();
            return;
        }
        problem.over();
        long before = read;
        for (KeyValue entry : entries) {
            read = Math.max(read, entry.modified());
            if (entry.modified() > before && isNotice(entry.key())) {
                reader.accept(entry);
            }
        }
        if (reply.index() <= 0 || reply.index() < index) {
            // an agent that has lost its state: what it says next must not be waited for
            index = 0;
            loop.later(this::watch, backoff.next());
        } else {
            index = reply.index();
            backoff.reset();
            watch();
        }
    }
}
