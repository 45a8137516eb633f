package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a script, and the future of its result. The steps are the methods from top to bottom: {@link #sendOver},
 * {@link #issueEvalsha} or the whole source, {@link #accept}, {@link #readAnswer} or {@link #handleFailure}. With
 * {@link #confirm} an answer counts only when a replica has confirmed it. Cancelling the
 * call cancels the command, so that Lettuce neither keeps nor repeats it.
 *
 * <p>The caller's thread sends it, and a thread of Lettuce's completes it. Thread-safe.
 *
 * <p>{@link ClaimBatch} and {@link KeyCall} are its forms. Each command is counted once when it is sent and once when
 * it has ended, by which {@link SharedConnection} notices a connection that is silent.
 *
 * @param <R> what Redis answers
 * @param <T> what the answer means
 */
abstract class ScriptCall<R, T> extends Call<T> implements BiConsumer<R, @Nullable Throwable> {

    private final Script script;
    private final ScriptOutputType output;
    /** Written before the command is sent; the answer arrives on another thread. */
    private @Nullable SharedConnection connection;

    /** In a cluster the node that has the key's slot when the call is sent; empty otherwise. */
    private String node = "";

    /** Redis did not have the script, for example after a restart: the source is sent instead, which Redis then keeps. */
    private boolean sendsSource;

    /** {@code null} before it is sent; the last one, if the source was sent after the digest. */
    private volatile @Nullable RedisFuture<R> command;

    /** Asks whether a replica has the effect of {@link #command}; {@code null} if the answer counts without. */
    private @Nullable CompletableFuture<Void> confirmation;

    ScriptCall(Script script, ScriptOutputType output) {
        this.script = script;
        this.output = output;
    }

    /** The key it is about, or one of them, if that is known. {@code null} for a batch whose content is open. */
    abstract @Nullable RedisKey key();

    /**
     * What the script gets as KEYS.
     *
     * @param to the connection over which the call is sent
     */
    abstract byte[][] names(SharedConnection to);

    /** What the script gets as ARGV. */
    abstract byte[][] arguments(SharedConnection to);

    /**
     * Converts an answer to the result. Runs on a thread of Lettuce's. Throws if the answer has not the form that the
     * script gives it.
     */
    abstract T readAnswer(R answer);

    /** Sends, behind the command, what has to confirm it before its answer counts; {@code null} if that counts at once. */
    @Nullable
    CompletableFuture<Void> confirm(SharedConnection to) {
        return null;
    }

    /** Sends the command, or completes the call with a failure. */
    final void sendOver(SharedConnection to) {
        // The core has cancelled the call while it waited.
        if (isDone()) {
            return;
        }
        connection = to;
        try {
            node = to.node(key());
            if (to.isDown()) {
                failUnsent("Redis can't be reached: the connection is down");
            } else if (to.nodes().admits(node)) {
                issueCommand(to);
            } else {
                failUnsent("Redis has answered nothing for a while");
            }
        } catch (RuntimeException | Error e) {
            completeExceptionally(Failures.of(e, key()));
        }
    }

    /**
     * The core may cancel the call while it is being sent: the command is cancelled either here or in {@link
     * #cancel}.
     */
    private void issueCommand(SharedConnection to) {
        // Before the command is sent, because its answer may arrive before this method continues.
        to.countSent();
        boolean followed = false;
        try {
            RedisFuture<R> sent = sendsSource ? issueEval(to) : issueEvalsha(to, script);
            command = sent;
            confirmation = confirm(to);
            if (isCancelled()) {
                sent.cancel(false);
            }
            sent.whenComplete(this);
            followed = true;
        } finally {
            // The sending has failed, so that no answer will count it down.
            if (!followed) {
                to.countEnded(false);
            }
        }
    }

    /** The digest has 40 characters, while the source has many thousands. */
    RedisFuture<R> issueEvalsha(SharedConnection to, Script known) {
        return to.commands().evalsha(known.sha1(), output, names(to), arguments(to));
    }

    /** Redis also keeps the script under its digest, so that the next call is short again. */
    private RedisFuture<R> issueEval(SharedConnection to) {
        return to.commands().eval(script.source(), output, names(to), arguments(to));
    }

    /** Runs when the command has ended. */
    @Override
    public final void accept(R answer, @Nullable Throwable failure) {
        SharedConnection to = Objects.requireNonNull(connection);
        // An error of the server is an answer as well: the connection works.
        to.countEnded(
                failure == null || PermitStoreException.causeOf(failure) instanceof RedisCommandExecutionException);
        CompletableFuture<Void> waiting = confirmation;
        if (failure != null || waiting == null) {
            end(answer, failure, to);
            return;
        }
        to.nodes().answered(node);
        waiting.whenComplete((confirmed, reason) -> {
            if (reason == null) {
                end(answer, null, to);
            } else { // the script was executed, and to send it again would not help
                completeExceptionally(Failures.of(reason, key()));
            }
        });
    }

    private void end(R answer, @Nullable Throwable failure, SharedConnection to) {
        if (isCancelled()) {
            return;
        }
        try {
            // Another connection may have sent a later claim since, and another server may be the master.
            if (failure == null && to.isRetired()) {
                failUnsent("The answer came from a connection that was given up");
            } else if (failure == null) {
                to.nodes().answered(node);
                complete(readAnswer(answer));
            } else {
                examineFailure(PermitStoreException.causeOf(failure), to);
            }
        } catch (RuntimeException | Error e) { // nothing else would end the call
            completeExceptionally(Failures.of(e, key()));
        }
    }

    /** Records what the failure says about the connection and its server, before the call ends. */
    private void examineFailure(Throwable failure, SharedConnection to) {
        if (failure instanceof RedisCommandExecutionException) {
            to.nodes().answered(node);
        } else if (failure instanceof RedisCommandTimeoutException) {
            to.nodes().unanswered(node);
        }
        if (Failures.refusesClaims(failure)) {
            to.refusing.set(true);
        }
        if (Failures.isOfClosedServer(failure)) {
            to.serverClosed.set(true);
        }
        // At most once for each call, so that a server which never keeps scripts causes no loop.
        if (failure instanceof RedisNoScriptException && !sendsSource) {
            sendsSource = true;
            issueCommand(to);
        } else {
            handleFailure(failure, to);
        }
    }

    /** Redis answered with an error, or not in time. */
    void handleFailure(Throwable failure, SharedConnection to) {
        completeExceptionally(Failures.of(failure, key()));
    }

    /**
     * The server may execute the command all the same. A cancelled command counts as unanswered, because the core
     * cancels after the command time-out.
     */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        RedisFuture<R> sent = command;
        SharedConnection to = connection;
        if (cancelled && sent != null && to != null) {
            to.nodes().unanswered(node);
            sent.cancel(false);
        }
        return cancelled;
    }
}
