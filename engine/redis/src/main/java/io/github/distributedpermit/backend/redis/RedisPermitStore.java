package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.ReadableNames;
import io.lettuce.core.ScriptOutputType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The store of one member: each operation is a script. The classes it consists of are described in the package documentation.
 * Thread-safe; the calling thread sends, and no method blocks except {@link #close}.
 */
final class RedisPermitStore implements PermitStore {

    /** What the script answers if it was executed too late. */
    private static final long TOO_LATE = -1;

    private final RedisKeys keys;
    private final LineageNames lineages;
    private final Duration commandTimeout;
    private final ConnectionManager connections;
    private final ReadableNames names;

    RedisPermitStore(
            LettuceConnectionFactory factory,
            RedisSettings settings,
            Member member,
            HoldingListener listener,
            LongSupplier ticker) {
        this.keys = new RedisKeys(settings.prefix());
        this.lineages = new LineageNames(settings.prefix());
        this.commandTimeout = settings.commandTimeout();
        NameKeys nameKeys = new NameKeys(settings.prefix(), member.id(), member.name());
        this.names = new ReadableNames(of -> readName(nameKeys, of));
        byte[] memberId = RedisKey.bytes(member.id());
        byte[] channel = RedisKeys.channel(settings.prefix(), member.id());
        KnownEpochs epochs = new KnownEpochs(ticker);
        WorkSignal signal = new WorkSignal();
        Connector connector = new Connector(
                factory, settings.commandTimeout(), channel, new UnresponsiveNodes(ticker), signal::checkConnections);
        SubscriptionKeeper subscription = new SubscriptionKeeper(
                new GrantSubscription(channel, new GrantMessages(keys, listener), settings.commandTimeout()),
                connector,
                settings.watch(),
                settings.grace(),
                signal::checkConnections);
        this.connections = new ConnectionManager(
                connector,
                subscription,
                signal,
                connection -> new ClaimPipeline(connection, memberId, settings, epochs, ticker),
                nameKeys,
                listener::reachable);
        connections.start("distributed-permit-redis-" + member.id());
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        ClaimCall call = new ClaimCall(ClaimCodec.requireExactSequence(claim), keys.keyOf(claim));
        if (!claim.queue() && claim.wanted() > 0) {
            call.whenComplete((holding, failure) -> keys.ended(claim, holding == null ? 0 : holding.permits()));
        }
        connections.submitCall(call, ClaimPipeline::enqueueClaim);
        return call;
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return look(key)
                .thenApply(found -> Inspection.read(key, found))
                .thenCompose(state -> names.addTo(state, UnaryOperator.identity()));
    }

    private CompletionStage<List<Object>> look(String key) {
        RedisKey named = keys.keyOf(key);
        return send(new KeyCall<>(
                Script.INSPECT,
                ScriptOutputType.MULTI,
                named,
                to -> named.names(),
                to -> new byte[0][],
                (List<Object> answer) -> answer));
    }

    private CompletionStage<Optional<String>> readName(NameKeys keysOfNames, String member) {
        SharedConnection present = connections.connection();
        return present == null
                ? CompletableFuture.completedFuture(Optional.empty())
                : keysOfNames.read(present, member);
    }

    /** The server refuses an order that arrives late, by its own clock, because the member may have got other permits by then. */
    @Override
    public CompletionStage<Integer> evict(String key, String member) {
        return look(key)
                .thenCompose(found ->
                        evict(key, member, Inspection.time(found) + TimeUnit.MICROSECONDS.convert(commandTimeout)));
    }

    private CompletionStage<Integer> evict(String key, String member, long deadline) {
        RedisKey named = keys.keyOf(key);
        CompletionStage<Long> taken = send(new KeyCall<>(
                Script.EVICT,
                ScriptOutputType.INTEGER,
                named,
                to -> namesAndLineage(named, to),
                to -> new byte[][] {
                    RedisKey.bytes(member), ascii(to.isCluster() ? "1" : "0"), ascii(Long.toString(deadline))
                },
                (Long answer) -> answer));
        return taken.thenApply(permits -> {
            if (permits == TOO_LATE) {
                throw PermitStoreException.passing(
                        "The order arrived after the command time-out; nothing was taken", null);
            }
            return permits.intValue();
        });
    }

    @Override
    @SuppressWarnings("NullAway") // a Void is null
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        OverrideLimit.check(limit);
        String value = Integer.toString(limit.orElse(-1));
        RedisKey named = keys.keyOf(key);
        return send(new KeyCall<Object, Void>(
                Script.OVERRIDE,
                ScriptOutputType.INTEGER,
                named,
                to -> namesAndLineage(named, to),
                to -> new byte[][] {ascii(value), ascii(to.isCluster() ? "1" : "0")},
                RedisPermitStore::nothing));
    }

    @SuppressWarnings("NullAway") // null is the one value of Void
    private static Void nothing(Object answer) {
        return null;
    }

    /** With the lineage, which says whether the server was closed; servers of a cluster are not. */
    private byte[][] namesAndLineage(RedisKey key, SharedConnection to) {
        byte[][] names = key.names();
        if (to.isCluster()) {
            return names;
        }
        byte[][] all = Arrays.copyOf(names, names.length + 1);
        all[names.length] = lineages.single();
        return all;
    }

    private <T> KeyCall<?, T> send(KeyCall<?, T> call) {
        connections.submitCall(call, (pipeline, sent) -> sent.sendOver(pipeline.connection()));
        return call;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public Optional<String> problem() {
        return connections.problem();
    }

    @Override
    public void close() {
        connections.close();
    }
}
