package io.github.distributedpermit.backend.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of a script, and its result. Cancelling it cancels the command, so that Lettuce neither keeps nor repeats it.
 *
 * @param <R> what Redis answers
 * @param <T> what that means
 */
abstract class ScriptCall<R, T> extends Call<T> implements BiConsumer<R, @Nullable Throwable> {

    private final Script script;
    private final ScriptOutputType output;
    private final Silence silence;
    private @Nullable Attachment attachment;
    private String node = "";
    private boolean whole;
    private volatile @Nullable RedisFuture<R> command;

    ScriptCall(Script script, ScriptOutputType output, Silence silence) {
        this.script = script;
        this.output = output;
        this.silence = silence;
    }

    /** The clock of the store. */
    final long now() {
        return silence.now();
    }

    /** The key it is about, or one of them, if that is known. */
    abstract @Nullable RedisKey key();

    /** What the script is called with as KEYS. */
    abstract byte[][] names();

    /** What it is called with as ARGV. */
    abstract byte[][] arguments(Attachment to);

    /** What an answer means. */
    abstract T read(R answer);

    @Override
    final void send(Attachment to) {
        if (isDone()) {
            return;
        }
        attachment = to;
        try {
            node = to.node(key());
            if (to.isDown()) {
                refuse("Redis can't be reached: the connection is down");
            } else if (silence.admits(node)) {
                issue(to);
            } else {
                refuse("Redis has answered nothing for a while");
            }
        } catch (RuntimeException | Error e) {
            completeExceptionally(Failures.of(e, key()));
        }
    }

    /** Redis has answered with an error, or nothing in time. */
    void failed(Throwable failure, Attachment to) {
        completeExceptionally(Failures.of(failure, key()));
    }

    private void issue(Attachment to) {
        to.awaiting();
        boolean followed = false;
        try {
            RedisFuture<R> sent = whole ? eval(to) : evalsha(to, script);
            command = sent;
            if (isCancelled()) {
                sent.cancel(false);
            }
            sent.whenComplete(this);
            followed = true;
        } finally {
            if (!followed) {
                to.ended(false);
            }
        }
    }

    private RedisFuture<R> eval(Attachment to) {
        return to.commands().eval(script.source(), output, names(), arguments(to));
    }

    RedisFuture<R> evalsha(Attachment to, Script known) {
        return to.commands().evalsha(known.sha1(), output, names(), arguments(to));
    }

    @Override
    public final void accept(R answer, @Nullable Throwable failure) {
        Attachment to = attachment;
        if (to != null) {
            to.ended(failure == null || unwrapped(failure) instanceof RedisCommandExecutionException);
        }
        if (isCancelled()) {
            return;
        }
        try {
            if (failure == null && to != null && to.isRetired()) {
                refuse("The answer came from a connection that was given up");
            } else if (failure == null) {
                silence.answered(node);
                complete(read(answer));
            } else {
                fail(unwrapped(failure));
            }
        } catch (RuntimeException e) {
            completeExceptionally(Failures.of(e, key()));
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void fail(Throwable failure) {
        if (failure instanceof RedisCommandExecutionException) {
            silence.answered(node);
        } else if (failure instanceof RedisCommandTimeoutException) {
            silence.unanswered(node);
        }
        Attachment to = attachment;
        if (to != null && Failures.refusesClaims(failure)) {
            to.refusesClaims();
        }
        if (to == null) {
            completeExceptionally(Failures.of(failure, key()));
        } else if (failure instanceof RedisNoScriptException && !whole) {
            whole = true;
            issue(to);
        } else {
            failed(failure, to);
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean cancelled = super.cancel(mayInterruptIfRunning);
        RedisFuture<R> sent = command;
        if (cancelled && sent != null) {
            silence.unanswered(node);
            sent.cancel(false);
        }
        return cancelled;
    }
}
