package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits that messages of one consumer wait for. The consumer's thread asks for them and goes on; the container pauses, and
 * delivers the message again when its permits are there. Confined to that thread.
 */
public final class ListenerPermits {

    /** For the round trip to the store, so that a permit that is free costs no pause. */
    private static final Duration ANSWER = Duration.ofMillis(20);
    /** When a message asks again that was rejected, or after a failure of the store. */
    private static final Duration AGAIN = Duration.ofSeconds(1);
    /** How long a permit waits for its message, which may have gone to another consumer, or whose container may be paused. */
    private static final Duration UNCLAIMED = Duration.ofSeconds(5);

    /** Of the message that waits: a consumer has one, since those behind it are not delivered. */
    private @Nullable Asked asked;

    private boolean pending;
    private boolean threadWaits;

    ListenerPermits() {}

    /** Whether the last message was not processed, because it waits for its permits. */
    public boolean isPending() {
        return pending;
    }

    /** Messages that wait may have gone to another consumer. Those that have not ask again. */
    public void cancel() {
        Asked last = asked;
        asked = null;
        pending = false;
        if (last != null) {
            last.giveUp();
        }
    }

    /** Lets messages wait on the thread meanwhile: a handler that calls the listener again by itself would count the waits. */
    public <T> T withoutPausing(Supplier<T> handling) {
        threadWaits = true;
        try {
            return handling.get();
        } finally {
            threadWaits = false;
        }
    }

    @Nullable
    Object invoke(LimitedCall call) throws Throwable {
        pending = false;
        List<PermitRequest> requests = call.requests();
        Asked last = asked;
        asked = null;
        Asked current;
        if (last != null && last.requests.equals(requests) && last.claim()) {
            current = last;
        } else {
            if (last != null) {
                last.giveUp(); // its expressions have another value now
            }
            current = new Asked(requests, call.acquire(null));
        }
        PermitGroup group;
        try {
            CompletableFuture<PermitGroup> permits = current.acquisition.permits();
            group = threadWaits ? permits.get() : permits.get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            current.returnIfUnclaimed();
            asked = current;
            throw wait(call, current.acquisition.permits());
        } catch (InterruptedException e) {
            current.giveUp();
            Thread.currentThread().interrupt();
            throw new PermitInterruptedException("Interrupted while waiting for a permit", e);
        } catch (ExecutionException e) {
            return answer(call, current.acquisition, Objects.requireNonNull(e.getCause()));
        }
        PermitBundle permits = current.acquisition.held().apply(group);
        try {
            return permits.begin(call::proceed);
        } finally {
            permits.release();
        }
    }

    /** A message that got no permit is as good as before, unless a fallback answers it. */
    private @Nullable Object answer(LimitedCall call, Acquisition acquisition, Throwable failure) throws Throwable {
        try {
            return acquisition.fallback().to(failure);
        } catch (PermitRejectedException | PermitBackendException e) {
            if (threadWaits
                    || (e instanceof PermitRejectedException rejected && rejected.reason() == Reason.ABOVE_LIMIT)) {
                throw e; // waiting does not help
            }
            throw wait(call, new CompletableFuture<>().completeOnTimeout(null, AGAIN.toNanos(), TimeUnit.NANOSECONDS));
        }
    }

    private PermitPendingException wait(LimitedCall call, CompletableFuture<?> decided) {
        pending = true;
        return new PermitPendingException(call.description(), decided);
    }

    /** What a message waits for. Thread-safe. */
    private static final class Asked {

        private final List<PermitRequest> requests;
        private final Acquisition acquisition;
        private final AtomicBoolean decided = new AtomicBoolean(true);

        Asked(List<PermitRequest> requests, Acquisition acquisition) {
            this.requests = requests;
            this.acquisition = acquisition;
        }

        /** Whether the permits are for the message still. */
        boolean claim() {
            return decided.compareAndSet(false, true);
        }

        /** The permits go back, unless the message claims them soon after they are there. */
        void returnIfUnclaimed() {
            decided.set(false);
            acquisition
                    .permits()
                    .thenAccept(group -> new CompletableFuture<>()
                            .completeOnTimeout(null, UNCLAIMED.toNanos(), TimeUnit.NANOSECONDS)
                            .thenRun(() -> {
                                if (claim()) {
                                    group.close();
                                }
                            }));
        }

        /** The permits go back, also those that are on their way. */
        void giveUp() {
            decided.set(true);
            acquisition.cancel();
            acquisition.permits().thenAccept(PermitGroup::close);
        }
    }
}
