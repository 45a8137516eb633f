package io.github.distributedpermit.backend.redis;

import io.lettuce.core.ScriptOutputType;
import java.util.function.Function;

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
    private final Function<SharedConnection, byte[][]> names;
    private final Function<SharedConnection, byte[][]> arguments;
    private final Function<R, T> reader;

    KeyCall(
            Script script,
            ScriptOutputType output,
            RedisKey key,
            Function<SharedConnection, byte[][]> names,
            Function<SharedConnection, byte[][]> arguments,
            Function<R, T> reader) {
        super(script, output);
        this.key = key;
        this.names = names;
        this.arguments = arguments;
        this.reader = reader;
    }

    /** Determines the node in a cluster, and is named in failures. */
    @Override
    RedisKey key() {
        return key;
    }

    @Override
    byte[][] names(SharedConnection to) {
        return names.apply(to);
    }

    @Override
    byte[][] arguments(SharedConnection to) {
        return arguments.apply(to);
    }

    /** Runs once, on a thread of Lettuce's. */
    @Override
    T readAnswer(R answer) {
        return reader.apply(answer);
    }
}
