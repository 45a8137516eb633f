package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.backend.redis.SentinelView.Answer;
import io.github.distributedpermit.backend.redis.SentinelView.Master;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One Sentinel: a connection for questions and one for its announcements. Both are made for the first question, and closed
 * when a question is not answered in time. For a Sentinel that is down or silent there is one attempt at a time. Thread-safe;
 * no method blocks.
 *
 * <p>The callbacks run without the monitor, on threads of Lettuce's.
 */
final class SentinelNode implements AutoCloseable {

    private static final String ANNOUNCEMENT = "+switch-master";
    /** A field in the answer of {@code SENTINEL MASTER}: the number of the vote by which the master was chosen. */
    private static final String EPOCH = "config-epoch";

    private final OwnClient client;
    private final RedisURI uri;
    private final String name;
    /** Computes the master from the answers of all Sentinels. */
    private final Runnable answered;

    private final Runnable announced;
    // guarded by the monitor of this object, from here on
    /** {@code null} before the first question, and after one that has failed. */
    private @Nullable StatefulRedisConnection<String, String> connection;
    /** Made together with the connection for questions. */
    private @Nullable StatefulRedisPubSubConnection<String, String> announcements;
    /** The last answer; {@code null} before the first one. */
    private @Nullable Answer answer;
    /**
     * When the last answer arrived, on the clock of {@link System#nanoTime}. An answer that is too old does not
     * count, see {@link #answer}.
     */
    private long answeredAt;
    /** A question is under way. So at most one question is under way, also if the Sentinel never answers. */
    private boolean busy;
    /** The connection for announcements is being made. */
    private boolean subscribing;

    /** No connection is made from then on. */
    private boolean closed;

    /**
     * Connects to nothing yet.
     *
     * @param name what the Sentinels call the master
     * @param answered runs after each answer, on any thread
     * @param announced runs after each announcement of a fail-over, of any master that this Sentinel watches
     */
    SentinelNode(OwnClient client, RedisURI uri, String name, Runnable answered, Runnable announced) {
        this.client = client;
        this.uri = uri;
        this.name = name;
        this.answered = answered;
        this.announced = announced;
    }

    /**
     * Its last answer, if that is not older than the given time.
     *
     * @param since on the clock of {@link System#nanoTime}
     */
    synchronized Optional<Answer> answer(long since) {
        return answer != null && answeredAt - since >= 0 ? Optional.of(answer) : Optional.empty();
    }

    /**
     * Asks for the master, unless an earlier question is unanswered. Called by the timer, after a lost connection,
     * and for each announcement. The question bounds itself: it ends after three time-outs at the latest.
     */
    void askForMaster() {
        StatefulRedisConnection<String, String> to;
        synchronized (this) {
            if (closed || busy) {
                return;
            }
            busy = true;
            to = connection;
        }
        try {
            CompletableFuture<StatefulRedisConnection<String, String>> connected = to != null && to.isOpen()
                    ? CompletableFuture.completedFuture(to)
                    : client.connect(uri, StringCodec.UTF8).thenApply(this::keepConnection);
            connected
                    .thenCompose(this::sendQuestion)
                    .orTimeout(3 * uri.getTimeout().toMillis(), TimeUnit.MILLISECONDS)
                    .whenComplete((reply, failure) -> endQuestion(failure == null ? reply : null, failure != null));
        } catch (RuntimeException | Error e) {
            endQuestion(null, true); // otherwise this Sentinel would stay busy, and the error would end the timer
        }
    }

    /** Runs when a connection was made, on a thread of Lettuce's. */
    private StatefulRedisConnection<String, String> keepConnection(StatefulRedisConnection<String, String> opened) {
        synchronized (this) {
            close(connection); // the former one, which was lost
            connection = opened;
        }
        subscribeToAnnouncements();
        return opened;
    }

    /**
     * Reads the epoch first: the address may be newer than its epoch, but must not be older.
     *
     * @return without an answer if the Sentinel does not watch this master
     */
    private CompletableFuture<@Nullable Answer> sendQuestion(StatefulRedisConnection<String, String> to) {
        CompletableFuture<Long> epoch = sendSentinel(to.async(), "MASTER")
                .thenApply(SentinelNode::epoch)
                .exceptionally(failure -> SentinelView.UNKNOWN_EPOCH); // the user may lack the right
        return sendSentinel(to.async(), "GET-MASTER-ADDR-BY-NAME")
                .<Long, @Nullable Answer>thenCombine(
                        epoch,
                        (address, known) -> address.size() < 2
                                ? null
                                : new Answer(new Master(address.get(0), Integer.parseInt(address.get(1))), known))
                .orTimeout(uri.getTimeout().toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Sent as a generic command, because the answer of {@code SENTINEL MASTER} is needed as it is. */
    private CompletableFuture<List<String>> sendSentinel(RedisAsyncCommands<String, String> to, String subcommand) {
        CommandArgs<String, String> arguments =
                new CommandArgs<>(StringCodec.UTF8).add(subcommand).add(name);
        return to.dispatch(CommandType.SENTINEL, new ValueListOutput<>(StringCodec.UTF8), arguments)
                .toCompletableFuture();
    }

    /** The answer of {@code SENTINEL MASTER} is a flat list of names and values. */
    private static long epoch(List<String> master) {
        int at = master.indexOf(EPOCH);
        return at < 0 || at + 1 >= master.size() ? SentinelView.UNKNOWN_EPOCH : Long.parseLong(master.get(at + 1));
    }

    /**
     * After a failure the connections are closed, because a half-open one would not answer the next question either.
     *
     * @param failed whether the Sentinel has not answered in time, or with an error
     */
    private void endQuestion(@Nullable Answer reply, boolean failed) {
        synchronized (this) {
            busy = false;
            if (failed || closed) {
                closeConnections();
            }
            if (reply != null) {
                answer = reply;
                answeredAt = System.nanoTime();
            }
        }
        if (reply != null) {
            answered.run();
        }
    }

    /**
     * Announcements only save time: without them a fail-over is found by the next question. The channel announces the
     * fail-overs of all masters that the Sentinel watches; each message only causes a question.
     */
    private void subscribeToAnnouncements() {
        synchronized (this) {
            if (subscribing || closed) {
                return;
            }
            subscribing = true;
        }
        client.openPubSub(uri, StringCodec.UTF8).whenComplete((opened, failure) -> {
            synchronized (this) {
                subscribing = false;
                if (opened == null) {
                    return;
                }
                if (closed || connection == null) {
                    opened.closeAsync();
                    return;
                }
                close(announcements);
                announcements = opened;
            }
            opened.addListener(new RedisPubSubAdapter<>() {
                @Override
                public void message(String channel, String message) {
                    announced.run();
                }
            });
            // A failure is not examined, since the periodic question finds every fail-over.
            opened.async().subscribe(ANNOUNCEMENT);
        });
    }

    /** To be called with the monitor. Does not wait. */
    private void closeConnections() {
        close(connection);
        close(announcements);
        connection = null;
        announcements = null;
    }

    private static void close(@Nullable StatefulConnection<?, ?> open) {
        if (open != null) {
            open.closeAsync();
        }
    }

    /** The connections are closed with the client. */
    @Override
    public synchronized void close() {
        closed = true;
        connection = null;
        announcements = null;
    }
}
