package io.github.distributedpermit.backend.redis;

import static java.lang.System.Logger.Level.WARNING;

import io.github.distributedpermit.spi.Holding;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The claims that are sent in one command, and the future of the packed answers. The batch is empty until Lettuce writes the
 * command; then it asks its {@link ClaimPipeline} for claims. Thread-safe.
 */
final class ClaimBatch extends ScriptCall<byte[], byte[]> implements ClaimCall.Carrier {

    private static final System.Logger LOG = System.getLogger(ClaimBatch.class.getName());

    private final ClaimPipeline pipeline;
    private volatile @Nullable List<ClaimCall> claims;

    /** Whether the sending thread failed with an error before the batch was sent. */
    volatile boolean abandoned;

    /** What confirms several batches that are sent one after the other; {@code null} if this one has its own. */
    private @Nullable CompletableFuture<Void> common;

    ClaimBatch(ClaimPipeline pipeline) {
        this(pipeline, null);
    }

    /** @param common what confirms this batch and others; it is sent behind the last of them */
    ClaimBatch(ClaimPipeline pipeline, @Nullable CompletableFuture<Void> common) {
        super(Script.CLAIMS, ScriptOutputType.VALUE);
        this.pipeline = pipeline;
        this.common = common;
    }

    /** Fixes the content of the batch. The pipeline calls it once. */
    void fill(List<ClaimCall> with, long now) {
        claims = with;
        with.forEach(claim -> claim.joinBatch(this, now));
    }

    /** The content; empty until it is fixed. */
    List<ClaimCall> filled() {
        List<ClaimCall> known = claims;
        return known == null ? List.of() : known;
    }

    /** The content, which is fixed now if it was not. */
    List<ClaimCall> claims() {
        List<ClaimCall> known = claims;
        return known == null ? pipeline.fillBatch(this) : known;
    }

    @Override
    @Nullable
    RedisKey key() {
        return filled().isEmpty() ? null : filled().get(0).key;
    }

    /** Leaves the arguments open until the command is written, unless the content is fixed already. */
    @Override
    RedisFuture<byte[]> issueEvalsha(SharedConnection to, Script script) {
        if (claims != null) {
            return super.issueEvalsha(to, script);
        }
        DeferredArgs deferred = new DeferredArgs(arguments -> {
            byte[][] names = names(to);
            arguments.add(script.sha1()).add(names.length).addKeys(names).addValues(arguments(to));
        });
        return to.commands().dispatch(CommandType.EVALSHA, new ValueOutput<>(ByteArrayCodec.INSTANCE), deferred);
    }

    @Override
    byte[][] names(SharedConnection to) {
        List<ClaimCall> all = claims();
        if (all.isEmpty()) {
            return new byte[0][];
        }
        // Loops, because this runs once for each command, mostly on a processor that has done something else meanwhile.
        byte[] lineage = pipeline.lineageName(all.get(0).key);
        byte[][] names = new byte[all.size() * RedisKey.NAMES + (lineage == null ? 0 : 1)][];
        for (int i = 0; i < all.size(); i++) {
            System.arraycopy(all.get(i).key.names(), 0, names, i * RedisKey.NAMES, RedisKey.NAMES);
        }
        if (lineage != null) {
            names[names.length - 1] = lineage;
        }
        return names;
    }

    @Override
    byte[][] arguments(SharedConnection to) {
        return pipeline.packArguments(claims());
    }

    /** If the command has to be sent a second time, what is common to several batches comes too early. */
    @Override
    @Nullable
    CompletableFuture<Void> confirm(SharedConnection to) {
        CompletableFuture<Void> behindAll = common;
        common = null;
        return behindAll == null ? pipeline.confirm(to) : behindAll;
    }

    @Override
    byte[] readAnswer(byte[] views) {
        return ClaimCodec.checkViews(views, claims().size());
    }

    /**
     * Sends each claim alone if Redis refused a command of several: a claim that Redis refuses must not fail the others. The
     * claims of the command that were executed change nothing when they are repeated.
     */
    @Override
    void handleFailure(Throwable failure, SharedConnection to) {
        pipeline.fillBatchWithOldest(this); // the command may have failed before it was written
        if (claims().size() > 1 && failure instanceof RedisCommandExecutionException) {
            pipeline.sendEachAlone(claims());
            completeExceptionally(new CancellationException("each claim was sent alone"));
        } else {
            super.handleFailure(failure, to);
        }
    }

    /** Gives each claim its answer, or the failure. */
    void completeClaims(byte @Nullable [] views, @Nullable Throwable failure) {
        List<ClaimCall> all = claims();
        for (int i = 0; i < all.size(); i++) {
            ClaimCall call = all.get(i);
            try {
                if (views != null) {
                    Holding answer = ClaimCodec.readView(views, i);
                    pipeline.received(call, answer, ClaimCodec.readLongestLease(views, all.size()));
                    call.complete(answer);
                } else if (failure != null && !isCancelled()) {
                    call.completeExceptionally(failure);
                }
            } catch (RuntimeException | Error e) {
                failClaim(call, e);
            }
        }
    }

    /**
     * The answer to a claim could not be applied. Throws nothing, so that the other claims of the batch are answered. The log is
     * written last, because it may fail as well, and a claim without an answer would wait for the command time-out.
     */
    private static void failClaim(ClaimCall call, Throwable e) {
        try {
            call.completeExceptionally(Failures.of(e, call.key));
            LOG.log(
                    WARNING,
                    "Redis answered a claim of " + call.key + ", but applying the answer failed. The next "
                            + "claim of this key applies it; please report this as an error of distributed-permit",
                    e);
        } catch (RuntimeException | Error again) {
            // nothing more can be done for this claim: the core ends it after the command time-out
        }
    }

    /** Cancels the command if no claim of it needs an answer, so that Lettuce does not keep it. */
    @Override
    public void claimCancelled() {
        if (claims().stream().allMatch(ClaimCall::isDone)) {
            cancel(false);
        }
    }
}
