package io.github.distributedpermit.backend.redis;

import io.lettuce.core.ScriptOutputType;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a script for one key that is not a claim: inspect, or set an override. Thread-safe.
 *
 * <p>What depends on the connection, such as whether it leads to a cluster, is computed when the call is sent.
 *
 * @param <R> what Redis answers
 * @param <T> what the answer means
 */
final class KeyCall<R, T> extends ScriptCall<R, T> {

    private final RedisKey key;
    private final byte @Nullable [] lineage;
    private final Function<R, T> reader;
    private final String[] arguments;

    /**
     * @param lineage its name, for a script that has to know whether the server was closed; {@code null} for one that grants nothing
     * @param arguments the script gets 1 behind them in a cluster, else 0
     */
    KeyCall(
            Script script,
            ScriptOutputType output,
            RedisKey key,
            byte @Nullable [] lineage,
            Function<R, T> reader,
            String... arguments) {
        super(script, output);
        this.key = key;
        this.lineage = lineage;
        this.reader = reader;
        this.arguments = arguments;
    }

    /** Determines the node in a cluster, and is named in failures. */
    @Override
    RedisKey key() {
        return key;
    }

    /** Servers of a cluster are not closed. */
    @Override
    byte[][] names(SharedConnection to) {
        byte[][] names = key.names();
        if (lineage == null || to.isCluster()) {
            return names;
        }
        byte[][] all = Arrays.copyOf(names, names.length + 1);
        all[names.length] = lineage;
        return all;
    }

    @Override
    byte[][] arguments(SharedConnection to) {
        return Stream.concat(Stream.of(arguments), Stream.of(to.isCluster() ? "1" : "0"))
                .map(RedisKey::bytes)
                .toArray(byte[][]::new);
    }

    /** Runs once, on a thread of Lettuce's. */
    @Override
    T readAnswer(R answer) {
        return reader.apply(answer);
    }
}
