package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.lettuce.core.ScriptOutputType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** One member's claims, by a script on a connection of its own, sent by the calling thread. */
final class RedisPermitStore implements PermitStore {

    private final RedisKeys keys;
    private final Silence silence;
    private final Link link;

    RedisPermitStore(
            LettuceConnectionFactory factory,
            RedisSettings settings,
            Member member,
            HoldingListener listener,
            LongSupplier ticker) {
        this.keys = new RedisKeys(settings.prefix());
        this.silence = new Silence(ticker);
        byte[] channel = RedisKeys.channel(settings.prefix(), member.id());
        Ear ear = new Ear(channel, new Notices(keys, listener), settings.commandTimeout());
        byte[] memberId = RedisKey.bytes(member.id());
        this.link = new Link(
                factory, settings, ear, silence, () -> new Outbox(memberId, settings, silence), listener::reachable);
        link.start("distributed-permit-redis-" + member.id());
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        return run(new ClaimCall(Wire.checked(claim), keys.of(claim)));
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return run(new KeyCall<>(
                Script.INSPECT,
                ScriptOutputType.MULTI,
                keys.of(key),
                to -> new byte[0][],
                (List<Object> found) -> Inspection.read(key, found),
                silence));
    }

    @Override
    @SuppressWarnings("NullAway") // a Void is null
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        OverrideLimit.check(limit);
        String value = Integer.toString(limit.orElse(-1));
        return run(new KeyCall<Object, Void>(
                Script.OVERRIDE,
                ScriptOutputType.INTEGER,
                keys.of(key),
                to -> new byte[][] {ascii(value), ascii(to.isCluster() ? "1" : "0")},
                RedisPermitStore::nothing,
                silence));
    }

    @SuppressWarnings("NullAway") // null is the one value of Void
    private static Void nothing(Object answer) {
        return null;
    }

    private <T> Call<T> run(Call<T> call) {
        link.send(call);
        return call;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public Optional<String> problem() {
        return link.problem();
    }

    /** For tests: the connection that claims use now. */
    @Nullable
    Attachment attachment() {
        return link.attachment();
    }

    @Override
    public void close() {
        link.close();
    }
}
