package io.github.distributedpermit.backend.redis;

import io.lettuce.core.ScriptOutputType;
import java.util.function.Function;

/**
 * One run of a script for one key.
 *
 * @param <R> what Redis answers
 * @param <T> what that means
 */
final class KeyCall<R, T> extends ScriptCall<R, T> {

    private final RedisKey key;
    private final Function<Attachment, byte[][]> arguments;
    private final Function<R, T> reading;

    KeyCall(
            Script script,
            ScriptOutputType output,
            RedisKey key,
            Function<Attachment, byte[][]> arguments,
            Function<R, T> reading,
            Silence silence) {
        super(script, output, silence);
        this.key = key;
        this.arguments = arguments;
        this.reading = reading;
    }

    @Override
    RedisKey key() {
        return key;
    }

    @Override
    byte[][] names() {
        return key.names();
    }

    @Override
    byte[][] arguments(Attachment to) {
        return arguments.apply(to);
    }

    @Override
    T read(R answer) {
        return reading.apply(answer);
    }
}
