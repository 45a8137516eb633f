package io.github.distributedpermit.backend.redis;

import io.lettuce.core.SetArgs;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The keys with the readable names of members: each member writes its own, which expires, once for each connection and every
 * eight hours. A name that can't be written is missing; members of older versions have none. Thread-safe, except
 * {@link #keep} and {@link #delete}, which run on the thread of the {@link ConnectionManager}.
 *
 * <p>Names are for operators and no part of the protocol, so that no failure here fails anything else.
 */
final class NameKeys {

    private static final System.Logger LOG = System.getLogger(NameKeys.class.getName());
    /** So long a name outlives a member that has crashed. */
    private static final Duration LIFE = Duration.ofDays(1);
    /** A third of its life, so that two attempts may fail. */
    private static final long REPEAT_NANOS = Duration.ofHours(8).toNanos();

    private final String prefix;
    private final String member;
    /** The readable name; the member itself is an id. */
    private final String name;
    /** A new connection may lead to a server that does not have the name. */
    private @Nullable SharedConnection writtenWith;
    /** In nanoseconds; also if the attempt has failed. */
    private long writtenAt;

    NameKeys(String prefix, String member, String name) {
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

    /**
     * Deletes the name of this member, which leaves; does not wait for the server. If the command is lost the name
     * expires.
     */
    void delete(SharedConnection connection) {
        if (writtenWith != null) {
            connection.commands().del(key(member));
        }
    }

    /** Reads the name of any member; empty if it has none. */
    CompletionStage<Optional<String>> read(SharedConnection connection, String of) {
        return connection
                .commands()
                .get(key(of))
                .thenApply(value -> Optional.ofNullable(value).map(text -> new String(text, StandardCharsets.UTF_8)));
    }

    /** The key has no hash tag, because no script uses it. */
    private byte[] key(String of) {
        return RedisKey.bytes(prefix + ":name:" + of);
    }
}
