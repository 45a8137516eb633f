package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.ReadableNames;
import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The store of one member: each operation is a script. The classes it consists of are described in the package documentation.
 * Thread-safe; the calling thread sends, and no method blocks except {@link #close}.
 *
 * <p>It creates the parts of the backend and connects them. A claim goes through {@link ConnectionManager} to the
 * {@link ClaimPipeline}; operations of operators are single {@link KeyCall}s on the same connection.
 */
final class RedisPermitStore implements PermitStore {

    /** What the script answers if it was executed too late. evict.lua returns it instead of a number of permits. */
    private static final long TOO_LATE = -1;

    /** The names of the keys in use. */
    private final RedisKeys keys;
    /** For scripts that have to know whether the server was closed. */
    private final LineageNames lineages;
    /** How long an order to evict is valid, on the clock of the server. */
    private final Duration commandTimeout;

    /** Owns the connections and the one thread of the member. */
    private final ConnectionManager connections;

    private final ReadableNames names;

    private final String prefix;

    /**
     * Starts the thread of the member, which connects; does not wait for it.
     *
     * @param listener the core, called on threads of Lettuce's and on the member's thread
     * @param ticker the monotonic clock of the core, in nanoseconds
     */
    RedisPermitStore(
            LettuceConnectionFactory factory,
            RedisSettings settings,
            Member member,
            HoldingListener listener,
            LongSupplier ticker) {
        this.prefix = settings.prefix();
        this.keys = new RedisKeys(settings.prefix());
        this.lineages = new LineageNames(settings.prefix());
        this.commandTimeout = settings.commandTimeout();
        NameKeys nameKeys = new NameKeys(settings.prefix(), member.id(), member.name());
        this.names = new ReadableNames(of -> readName(nameKeys, of));
        byte[] memberId = RedisKey.bytes(member.id());
        byte[] channel = RedisKeys.channel(settings.prefix(), member.id());
        KnownEpochs epochs = new KnownEpochs(ticker);
        // A lost connection of either kind wakes the manager's thread, which finds out itself what is to do.
        AtomicLong highestSent = new AtomicLong(-1);
        WorkSignal signal = new WorkSignal();
        ReplicaWait wait = settings.waitForReplica() ? new ReplicaWait(settings.commandTimeout()) : null;
        Connector connector = new Connector(
                factory,
                settings.commandTimeout(),
                channel,
                new UnresponsiveNodes(ticker),
                wait == null ? 0 : ClaimPipeline.WINDOW * wait.longest(),
                signal::checkConnections);
        GrantSubscription subscription = new GrantSubscription(
                channel,
                new GrantMessages(keys, listener, names::of, settings.waitForReplica()),
                connector,
                settings,
                signal::checkConnections);
        this.connections = new ConnectionManager(
                connector,
                subscription,
                signal,
                connection -> new ClaimPipeline(connection, memberId, settings, wait, epochs, highestSent, ticker),
                nameKeys,
                listener::reachable);
        connections.start("distributed-permit-redis-" + member.id());
    }

    /**
     * The stage is a {@link PendingClaim}: the core reads from it when the claim was written, and cancels it after
     * the command time-out.
     */
    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        ClaimCall call = new ClaimCall(ClaimCodec.requireExactSequence(claim), keys.keyOf(claim));
        // A claim that queues keeps its key until a later claim wants nothing. The core sends that one, unless it gave
        // up
        // the key while calls ran without Redis: then the entry stays until the key is used again.
        if (!claim.head().queues() && claim.counts().wanted() > 0) {
            call.whenComplete((holding, failure) -> keys.ended(claim, holding == null ? 0 : holding.permits()));
        }
        connections.submitCall(call, ClaimPipeline::enqueueClaim);
        return call;
    }

    /** The state is that of one execution of a script; the names are added from their own keys. */
    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return look(key)
                .thenApply(found -> Inspection.read(key, found))
                .thenCompose(state -> names.addTo(state, UnaryOperator.identity()));
    }

    @Override
    public CompletionStage<KeyList> keys(int most) {
        SharedConnection present = connections.connection();
        return present == null
                ? CompletableFuture.failedFuture(PermitStoreException.passing("Redis can't be reached", null))
                : new KeyScan(present, prefix, most)
                        .run()
                        .exceptionallyCompose(e -> CompletableFuture.failedFuture(PermitStoreException.passing(
                                "Redis did not list its keys: " + PermitStoreException.describe(e), e)));
    }

    /** Reads without the lineage, since nothing is granted or renewed. */
    private CompletionStage<List<Object>> look(String key) {
        return send(new KeyCall<>(
                Script.INSPECT.get(), ScriptOutputType.MULTI, keys.keyOf(key), null, (List<Object> answer) -> answer));
    }

    /** Without a connection the name is left out. */
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

    /** @param deadline in microseconds, on the clock of the server */
    private CompletionStage<Integer> evict(String key, String member, long deadline) {
        CompletionStage<Long> taken = send(new KeyCall<>(
                // The deadline is compared on the server, because the member's clock may differ from it.
                Script.EVICT.get(),
                ScriptOutputType.INTEGER,
                keys.keyOf(key),
                lineages.single(),
                (Long answer) -> answer,
                member,
                Long.toString(deadline)));
        return taken.thenApply(permits -> {
            if (permits == TOO_LATE) {
                throw PermitStoreException.passing(
                        "The order arrived after the command time-out; nothing was taken", null);
            }
            return permits.intValue();
        });
    }

    /**
     * The script serves the queue under the new limit, and takes no permits from members that hold more. In the
     * script, -1 stands for no limit.
     */
    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        return override(key, limit.orElse(-1), limit.text(), "");
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return override(key, -1, OverrideLimit.empty().text(), ended.text());
    }

    /** @param instead the one that it replaces; empty for any */
    @SuppressWarnings("NullAway") // a Void is null
    private CompletionStage<Void> override(String key, int limit, String text, String instead) {
        return send(new KeyCall<Object, Void>(
                Script.OVERRIDE.get(),
                ScriptOutputType.INTEGER,
                keys.keyOf(key),
                lineages.single(),
                RedisPermitStore::nothing,
                Integer.toString(limit),
                text,
                instead));
    }

    /** The answer of the script has no meaning for the caller. */
    @SuppressWarnings("NullAway") // null is the one value of Void
    private static Void nothing(Object answer) {
        return null;
    }

    /** It does not pass the pipeline, so that it does not wait behind claims for a place in its window. */
    private <T> KeyCall<?, T> send(KeyCall<?, T> call) {
        connections.submitCall(call, (pipeline, sent) -> sent.sendOver(pipeline.connection()));
        return call;
    }

    /** Read from fields only, so that health never waits for Redis. */
    @Override
    public Optional<String> warning() {
        return Optional.ofNullable(connections.connection()).map(present -> present.warning);
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
