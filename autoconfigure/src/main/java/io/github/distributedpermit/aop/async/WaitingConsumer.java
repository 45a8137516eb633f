package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * For a container that cannot pause: its thread waits for as long as it takes, and asks for no other message. It may not give up
 * earlier than its container, which would count the message as failed.
 */
final class WaitingConsumer extends ListenerConsumer {

    private static final long LOOK_MILLIS = 100;

    private final BooleanSupplier open;

    /** Waits while the message is this consumer's. */
    WaitingConsumer(BooleanSupplier open) {
        this.open = open;
    }

    @Override
    @Nullable
    Object invoke(LimitedCall call) throws Throwable {
        boolean interrupted = false;
        try {
            while (true) {
                Acquisition acquisition = call.acquire(null);
                while (!acquisition.permits().isDone() && open.getAsBoolean()) {
                    interrupted |= sleep(acquisition.permits(), LOOK_MILLIS);
                }
                if (!open.getAsBoolean()) {
                    acquisition.cancel();
                    acquisition.permits().thenAccept(PermitGroup::close);
                    throw new PermitPendingException(call.description(), acquisition.permits());
                }
                PermitGroup group;
                try {
                    group = acquisition.permits().get();
                } catch (ExecutionException e) {
                    try {
                        return acquisition.fallback().to(Objects.requireNonNull(e.getCause()));
                    } catch (PermitRejectedException | PermitBackendException notNow) {
                        warn(call, notNow);
                        interrupted |= sleep(new CompletableFuture<>(), AGAIN.toMillis());
                        continue;
                    }
                }
                return process(call, acquisition, group);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether it was interrupted, which ends a message that has not begun no sooner than its container does. */
    private static boolean sleep(CompletableFuture<?> end, long millis) {
        try {
            end.get(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return true;
        } catch (ExecutionException | TimeoutException e) {
            // The caller looks.
        }
        return false;
    }
}
