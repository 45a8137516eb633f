package io.github.distributedpermit.core;

import io.github.distributedpermit.spi.Holding;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** One claim on its way; hears of its answer. {@code held} and {@code inFlight} are guarded by the lock of the line. */
final class SentClaim implements BiConsumer<@Nullable Holding, @Nullable Throwable> {

    final long sequence;
    final long at;
    int held;
    boolean inFlight = true;
    private final KeyLine line;
    private volatile @Nullable CompletionStage<Holding> stage;

    SentClaim(KeyLine line, long sequence, int held, long at) {
        this.line = line;
        this.sequence = sequence;
        this.held = held;
        this.at = at;
    }

    void follow(CompletionStage<Holding> answer) {
        stage = answer;
        answer.whenComplete(this);
    }

    @Override
    public void accept(@Nullable Holding holding, @Nullable Throwable failure) {
        if (holding != null) {
            line.answered(sequence, holding);
        } else if (failure instanceof CompletionException wrapper && wrapper.getCause() != null) {
            line.failed(sequence, wrapper.getCause());
        } else if (failure != null) {
            line.failed(sequence, failure);
        }
    }

    /** Nobody waits for the answer any more, so the client need not keep the command for later. */
    void cancel() {
        if (stage instanceof Future<?> future) {
            future.cancel(false);
        }
    }
}
