package io.github.distributedpermit.core.call;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.core.LogSafe;
import io.github.distributedpermit.core.key.PauseState;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the store for the state of keys. Continuations of users run on the executor for them, never on a thread of the
 * store's client. Thread-safe.
 */
public final class StateQueries {

    private final KeyRegistry keys;
    private final CoreEnvironment environment;

    /** Queries of the store that these keys are in. */
    public StateQueries(KeyRegistry keys, CoreEnvironment environment) {
        this.keys = keys;
        this.environment = environment;
    }

    CompletableFuture<PermitState> query(PermitName permit, String key) {
        CompletableFuture<PermitState> result = new CompletableFuture<>();
        request(permit, key)
                .whenComplete((state, failure) -> environment.callback(() -> {
                    if (failure == null) {
                        result.complete(state);
                    } else {
                        result.completeExceptionally(failed(permit, key, failure));
                    }
                }));
        return result;
    }

    /** Waits on the calling thread, which may be one of the executor that {@link #query} needs. */
    PermitState await(PermitName permit, String key) {
        try {
            return request(permit, key).join();
        } catch (CompletionException e) {
            throw failed(permit, key, e);
        }
    }

    private CompletableFuture<PermitState> request(PermitName permit, String key) {
        return inspect(key)
                .toCompletableFuture()
                .copy() // a time-out of this call is not one of the store
                .orTimeout(permit.policy().storeTimeout(), TimeUnit.NANOSECONDS)
                .thenApply(state -> read(permit, state, keys.pause(permit) == PauseState.PAUSED));
    }

    private static PermitState read(PermitName permit, KeyState state, boolean paused) {
        int waiting = state.members().stream()
                .filter(KeyState.MemberState::waiting)
                .mapToInt(KeyState.MemberState::calls)
                .sum();
        int limit = paused ? 0 : state.limit(permit.policy().limit());
        return new PermitState(limit, state.used(), waiting);
    }

    /** A backend may throw instead of returning a failed stage. */
    private CompletionStage<KeyState> inspect(String key) {
        try {
            return keys.operations().inspect(key);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static PermitBackendException failed(PermitName permit, String key, Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        return new PermitBackendException(
                "The store of permits did not return the state of permit '%s', key '%s': %s; check the store and its connection settings"
                        .formatted(LogSafe.escape(permit.name()), LogSafe.escape(key), problem(permit, cause)),
                cause);
    }

    /** Only the messages of our own exceptions are known to have no secrets. */
    private static String problem(PermitName permit, Throwable cause) {
        if (cause instanceof TimeoutException) {
            return "no answer within "
                    + TimeUnit.NANOSECONDS.toMillis(permit.policy().storeTimeout()) + " ms";
        }
        return cause instanceof PermitStoreException
                ? String.valueOf(cause.getMessage())
                : cause.getClass().getSimpleName();
    }
}
