package io.github.distributedpermit.backend.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a command, decided when Lettuce first writes it; a repetition writes the same. Thread-safe.
 */
final class LateArguments extends CommandArgs<byte[], byte[]> {

    private @Nullable Consumer<CommandArgs<byte[], byte[]>> filling;

    LateArguments(Consumer<CommandArgs<byte[], byte[]>> filling) {
        super(ByteArrayCodec.INSTANCE);
        this.filling = filling;
    }

    private synchronized void fill() {
        Consumer<CommandArgs<byte[], byte[]>> once = filling;
        if (once != null) {
            filling = null;
            once.accept(this);
        }
    }

    @Override
    public int count() {
        fill();
        return super.count();
    }

    @Override
    public void encode(ByteBuf buffer) {
        fill();
        super.encode(buffer);
    }

    @Override
    public String toCommandString() {
        fill(); // asked for by tracing, as the command is written
        return super.toCommandString();
    }

    /** For logs, which decide nothing. */
    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
