package io.github.distributedpermit.backend.redis;

import io.lettuce.core.SetArgs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The readable names of members, for operators: each member writes its own to a key that expires, once for each connection and
 * every eight hours. They are no part of the protocol. A name that can't be written or read is left out, and members of older
 * versions have none. Thread-safe, except {@link #keep}, which runs on the thread of the {@link ConnectionManager}.
 */
final class ReadableNames {

    private static final System.Logger LOG = System.getLogger(ReadableNames.class.getName());
    private static final Duration LIFE = Duration.ofDays(1);
    private static final long REPEAT_NANOS = Duration.ofHours(8).toNanos();
    /** A member never changes its name, so that each is read once. */
    private static final int MOST_KNOWN = 10_000;
    /** Names read for one inspection; the next one goes on with the others. */
    private static final int MOST_READ = 200;
    /** How long an inspection waits for names. */
    private static final long MOST_MILLIS = 500;

    private final Map<String, String> known = new ConcurrentHashMap<>();
    private final String prefix;
    private final String member;
    private final String name;
    private @Nullable SharedConnection writtenWith;
    private long writtenAt;

    ReadableNames(String prefix, String member, String name) {
        this.prefix = prefix;
        this.member = member;
        this.name = name;
    }

    /** Writes the name of this member if that is due; does not wait for the server. */
    void keep(SharedConnection connection) {
        long now = System.nanoTime();
        if (connection == writtenWith && now - writtenAt < REPEAT_NANOS) {
            return;
        }
        writtenWith = connection;
        writtenAt = now;
        connection
                .commands()
                .set(key(member), name.getBytes(StandardCharsets.UTF_8), SetArgs.Builder.ex(LIFE))
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        LOG.log(System.Logger.Level.DEBUG, "The name of this member could not be written", failure);
                    }
                });
    }

    /** Deletes the name of this member, which leaves; does not wait for the server. */
    void delete(SharedConnection connection) {
        if (writtenWith != null) {
            connection.commands().del(key(member));
        }
    }

    /** The names of members, without those that have none; never fails. */
    CompletionStage<Map<String, String>> of(@Nullable SharedConnection connection, Collection<String> members) {
        CompletableFuture<?>[] readings = connection == null
                ? new CompletableFuture<?>[0]
                : members.stream()
                        .filter(m -> !known.containsKey(m))
                        .limit(MOST_READ)
                        .map(m -> read(connection, m))
                        .toArray(CompletableFuture<?>[]::new);
        // in a Cluster, names can be on a server that is down while the key itself can be read
        CompletableFuture<Void> all = CompletableFuture.allOf(readings).orTimeout(MOST_MILLIS, TimeUnit.MILLISECONDS);
        return all.handle((done, failure) -> {
            Map<String, String> found = new HashMap<>();
            for (String m : members) {
                String readable = known.get(m);
                if (readable != null) {
                    found.put(m, readable);
                }
            }
            return found;
        });
    }

    private CompletableFuture<?> read(SharedConnection connection, String of) {
        return connection
                .commands()
                .get(key(of))
                .thenAccept(value -> {
                    if (value != null) {
                        if (known.size() >= MOST_KNOWN) {
                            known.clear();
                        }
                        known.put(of, new String(Objects.requireNonNull(value), StandardCharsets.UTF_8));
                    }
                })
                .toCompletableFuture();
    }

    private byte[] key(String of) {
        return RedisKey.bytes(prefix + ":name:" + of);
    }
}
