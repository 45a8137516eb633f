package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Claims that are one command. What it answers goes to each of them. */
final class Batch extends ScriptCall<byte[], byte[]> {

    private final List<ClaimCall> claims;
    private final Outbox outbox;

    Batch(List<ClaimCall> claims, Function<Attachment, byte[][]> arguments, Outbox outbox, Silence silence) {
        super(
                Script.CLAIMS,
                ScriptOutputType.VALUE,
                claims.get(0).key,
                arguments,
                views -> Wire.views(views, claims.size()),
                silence);
        this.claims = claims;
        this.outbox = outbox;
        claims.forEach(claim -> claim.leavesWith(this));
    }

    @Override
    byte[][] names() {
        return claims.size() == 1
                ? super.names()
                : claims.stream().flatMap(claim -> Stream.of(claim.key.names())).toArray(byte[][]::new);
    }

    /** One that Redis refuses must not fail the others. What has been done already changes nothing when done again. */
    @Override
    void failed(Throwable failure, Attachment to) {
        if (claims.size() > 1 && failure instanceof RedisCommandExecutionException) {
            outbox.oneByOne(claims, to);
            completeExceptionally(new CancellationException("taken apart"));
        } else {
            super.failed(failure, to);
        }
    }

    /** Hands out what has come of it. */
    void tell(byte @Nullable [] views, @Nullable Throwable failure) {
        if (views != null) {
            for (int i = 0; i < claims.size(); i++) {
                claims.get(i).complete(Wire.view(views, i));
            }
        } else if (failure != null && !isCancelled()) {
            claims.forEach(claim -> claim.completeExceptionally(failure));
        }
    }

    /** Lettuce need not keep what nobody waits for. */
    void cancelIfUnwanted() {
        if (claims.stream().allMatch(ClaimCall::isDone)) {
            cancel(false);
        }
    }
}
