package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.WARNING;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims that are one command. What it answers goes to each of them. */
final class Batch extends ScriptCall<byte[], byte[]> {

    private static final System.Logger LOG = System.getLogger(Batch.class.getName());

    private final Outbox outbox;
    private volatile @Nullable List<ClaimCall> claims;

    /** Whether the thread that was to send it failed before it had. */
    volatile boolean abandoned;

    Batch(Outbox outbox, Silence silence) {
        super(Script.CLAIMS, ScriptOutputType.VALUE, silence);
        this.outbox = outbox;
    }

    /** Decides what it is; once. */
    void fill(List<ClaimCall> with) {
        claims = with;
        with.forEach(claim -> claim.leavesWith(this));
    }

    List<ClaimCall> filled() {
        List<ClaimCall> known = claims;
        return known == null ? List.of() : known;
    }

    /** What it is; decided now, if it was not. */
    List<ClaimCall> claims() {
        List<ClaimCall> known = claims;
        return known == null ? outbox.fill(this) : known;
    }

    @Override
    @Nullable
    RedisKey key() {
        return filled().isEmpty() ? null : filled().get(0).key;
    }

    @Override
    byte[][] names() {
        List<ClaimCall> all = claims();
        return all.size() == 1
                ? all.get(0).key.names()
                : all.stream().flatMap(claim -> Stream.of(claim.key.names())).toArray(byte[][]::new);
    }

    @Override
    byte[][] arguments(Attachment to) {
        return outbox.arguments(claims(), to.isCluster());
    }

    @Override
    byte[] read(byte[] views) {
        return Wire.views(views, claims().size());
    }

    @Override
    RedisFuture<byte[]> evalsha(Attachment to, Script script) {
        if (claims != null) {
            return super.evalsha(to, script);
        }
        LateArguments late = new LateArguments(arguments -> {
            byte[][] names = names();
            arguments.add(script.sha1()).add(names.length).addKeys(names).addValues(arguments(to));
        });
        return to.commands().dispatch(CommandType.EVALSHA, new ValueOutput<>(ByteArrayCodec.INSTANCE), late);
    }

    /** One that Redis refuses must not fail the others. What has been done already changes nothing when done again. */
    @Override
    void failed(Throwable failure, Attachment to) {
        outbox.fillWithOldest(this); // it may not even have been written
        if (claims().size() > 1 && failure instanceof RedisCommandExecutionException) {
            outbox.oneByOne(claims(), to);
            completeExceptionally(new CancellationException("taken apart"));
        } else {
            super.failed(failure, to);
        }
    }

    /** Hands out what has come of it. */
    void tell(byte @Nullable [] views, @Nullable Throwable failure) {
        List<ClaimCall> all = claims();
        for (int i = 0; i < all.size(); i++) {
            try {
                if (views != null) {
                    all.get(i).complete(Wire.view(views, i));
                } else if (failure != null && !isCancelled()) {
                    all.get(i).completeExceptionally(failure);
                }
            } catch (RuntimeException | Error e) {
                LOG.log(WARNING, "The answer to a claim could not be handed on; the next claim repairs it", e);
            }
        }
    }

    /** Lettuce need not keep what nobody waits for. */
    void cancelIfUnwanted() {
        if (claims().stream().allMatch(ClaimCall::isDone)) {
            cancel(false);
        }
    }
}
