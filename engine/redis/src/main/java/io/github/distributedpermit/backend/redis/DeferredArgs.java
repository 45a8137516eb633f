package io.github.distributedpermit.backend.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Arguments of a command that are determined when Lettuce first writes it. If Lettuce writes the command again, the arguments
 * are the same. Thread-safe.
 */
final class DeferredArgs extends CommandArgs<byte[], byte[]> {

    private @Nullable Consumer<CommandArgs<byte[], byte[]>> filler;

    DeferredArgs(Consumer<CommandArgs<byte[], byte[]>> filler) {
        super(ByteArrayCodec.INSTANCE);
        this.filler = filler;
    }

    private synchronized void fillOnce() {
        Consumer<CommandArgs<byte[], byte[]>> once = filler;
        if (once != null) {
            filler = null;
            once.accept(this);
        }
    }

    @Override
    public int count() {
        fillOnce();
        return super.count();
    }

    @Override
    public void encode(ByteBuf buffer) {
        fillOnce();
        super.encode(buffer);
    }

    @Override
    public String toCommandString() {
        fillOnce(); // tracing calls it while the command is written
        return super.toCommandString();
    }

    /** For logs. It must not fill the arguments, because a log may be written before the command. */
    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
