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
 * One Sentinel: a connection for questions and one for its announcements. Both are made when there is a question, and given
 * up when one is not answered in time. A Sentinel that is down or silent costs one attempt at a time. Thread-safe; no method
 * blocks.
 */
final class SentinelNode implements AutoCloseable {

    private static final String ANNOUNCEMENT = "+switch-master";
    private static final String EPOCH = "config-epoch";

    private final OwnClient client;
    private final RedisURI uri;
    private final String name;
    private final Runnable answered;
    private final Runnable announced;
    private @Nullable StatefulRedisConnection<String, String> connection;
    private @Nullable StatefulRedisPubSubConnection<String, String> announcements;
    private @Nullable Answer answer;
    private long answeredAt;
    private boolean busy;
    private boolean subscribing;
    private boolean closed;

    SentinelNode(OwnClient client, RedisURI uri, String name, Runnable answered, Runnable announced) {
        this.client = client;
        this.uri = uri;
        this.name = name;
        this.answered = answered;
        this.announced = announced;
    }

    /** What it has said since then. */
    synchronized Optional<Answer> answer(long since) {
        return answer != null && answeredAt - since >= 0 ? Optional.of(answer) : Optional.empty();
    }

    /** Asks, unless a question is unanswered. */
    void ask() {
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
                    : client.connect(uri, StringCodec.UTF8).thenApply(this::connected);
            connected
                    .thenCompose(this::question)
                    .orTimeout(3 * uri.getTimeout().toMillis(), TimeUnit.MILLISECONDS)
                    .whenComplete((said, failure) -> ended(failure == null ? said : null, failure != null));
        } catch (RuntimeException | Error e) {
            ended(null, true); // or it would never be asked again, and the other Sentinels not once a second
        }
    }

    private StatefulRedisConnection<String, String> connected(StatefulRedisConnection<String, String> opened) {
        synchronized (this) {
            close(connection); // one that was lost
            connection = opened;
        }
        subscribe();
        return opened;
    }

    /** The epoch first: an address may be newer than its epoch, but must not be older. */
    private CompletableFuture<@Nullable Answer> question(StatefulRedisConnection<String, String> to) {
        CompletableFuture<Long> epoch = ask(to.async(), "MASTER")
                .thenApply(SentinelNode::epoch)
                .exceptionally(failure -> SentinelView.UNKNOWN_EPOCH); // it may be forbidden
        return ask(to.async(), "GET-MASTER-ADDR-BY-NAME")
                .<Long, @Nullable Answer>thenCombine(
                        epoch,
                        (address, known) -> address.size() < 2
                                ? null
                                : new Answer(new Master(address.get(0), Integer.parseInt(address.get(1))), known))
                .orTimeout(uri.getTimeout().toMillis(), TimeUnit.MILLISECONDS);
    }

    private CompletableFuture<List<String>> ask(RedisAsyncCommands<String, String> to, String what) {
        CommandArgs<String, String> arguments =
                new CommandArgs<>(StringCodec.UTF8).add(what).add(name);
        return to.dispatch(CommandType.SENTINEL, new ValueListOutput<>(StringCodec.UTF8), arguments)
                .toCompletableFuture();
    }

    private static long epoch(List<String> master) {
        int at = master.indexOf(EPOCH);
        return at < 0 || at + 1 >= master.size() ? SentinelView.UNKNOWN_EPOCH : Long.parseLong(master.get(at + 1));
    }

    private void ended(@Nullable Answer said, boolean failed) {
        synchronized (this) {
            busy = false;
            if (failed || closed) {
                drop();
            }
            if (said != null) {
                answer = said;
                answeredAt = System.nanoTime();
            }
        }
        if (said != null) {
            answered.run();
        }
    }

    private void subscribe() {
        synchronized (this) {
            if (subscribing || closed) {
                return;
            }
            subscribing = true;
        }
        client.subscriber(uri, StringCodec.UTF8).whenComplete((opened, failure) -> {
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
            opened.async().subscribe(ANNOUNCEMENT);
        });
    }

    private void drop() {
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

    @Override
    public synchronized void close() {
        closed = true;
        drop();
    }
}
