package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The permits that messages of one consumer wait for. The consumer's thread asks for them and goes on; the container pauses, and
 * delivers the message again when its permits are there. Confined to that thread.
 */
public final class ListenerPermits extends ListenerConsumer {

    /** For the round trip to the store, so that a permit that is free costs no pause. */
    private static final Duration ANSWER = Duration.ofMillis(20);
    /** How long a permit waits for its message, which may have gone to another consumer, or whose container may be paused. */
    private static final Duration UNCLAIMED = Duration.ofSeconds(5);

    private final Duration unclaimed;
    /** Of the one message that waits: those behind it are not delivered. */
    private @Nullable Asked asked;

    private boolean pending;

    ListenerPermits(Duration idle) {
        unclaimed = UNCLAIMED.plus(idle);
    }

    /** Whether the last message was not processed, because it waits for its permits. */
    public boolean isPending() {
        return pending;
    }

    /** Messages that wait may have gone to another consumer. Those that have not ask again. */
    public void cancelAll() {
        pending = false;
        if (asked != null) {
            asked.giveUp();
            asked = null;
        }
    }

    @Override
    @Nullable
    Object invoke(LimitedCall call) throws Throwable {
        pending = false;
        List<PermitRequest> requests = call.requests();
        Asked current = known(requests);
        if (current == null) {
            current = new Asked(requests, call.acquire(null));
        }
        PermitGroup group;
        try {
            group = current.acquisition.permits().get(ANSWER.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            current.returnIfUnclaimed(unclaimed);
            asked = current;
            throw wait(call, current.acquisition.permits());
        } catch (InterruptedException e) {
            current.giveUp();
            Thread.currentThread().interrupt();
            throw new PermitInterruptedException("Interrupted while waiting for a permit", e);
        } catch (ExecutionException e) {
            return answer(call, current.acquisition, Objects.requireNonNull(e.getCause()));
        }
        return process(call, current.acquisition, group);
    }

    /** What the message has asked for already. An expression may now have another value than then. */
    private @Nullable Asked known(List<PermitRequest> requests) {
        Asked known = asked;
        asked = null;
        if (known != null && (known.isLost() || !withoutOrder(known.requests).equals(withoutOrder(requests)))) {
            known.giveUp();
            return null;
        }
        return known != null && known.claim() ? known : null;
    }

    /** Without head starts and weights, which say when permits come and not which ones, and may change with each delivery. */
    private static List<PermitRequest> withoutOrder(List<PermitRequest> requests) {
        return requests.stream()
                .map(request ->
                        request.toBuilder().headStart(null).fairWeight(1).build())
                .toList();
    }

    /** A message that got no permit is as good as before, unless a fallback answers it. */
    private @Nullable Object answer(LimitedCall call, Acquisition acquisition, Throwable failure) throws Throwable {
        try {
            return acquisition.fallback().to(failure);
        } catch (PermitRejectedException | PermitBackendException e) {
            warn(call, e);
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

        /** Whether permits came, of which one is not held any more. */
        boolean isLost() {
            CompletableFuture<PermitGroup> permits = acquisition.permits();
            return permits.isDone()
                    && !permits.isCompletedExceptionally()
                    && !permits.join().isHeld();
        }

        /** The permits go back, unless the message claims them soon after they are there. */
        void returnIfUnclaimed(Duration unclaimed) {
            decided.set(false);
            acquisition
                    .permits()
                    .thenAccept(group -> new CompletableFuture<>()
                            .completeOnTimeout(null, unclaimed.toNanos(), TimeUnit.NANOSECONDS)
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
