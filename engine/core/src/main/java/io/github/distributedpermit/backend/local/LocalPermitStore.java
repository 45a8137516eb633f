package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.backend.local.LocalKeys.Operation;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.Step;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The tables in memory as one member sees them; every operation is done when its method returns. Closing it drops the member's
 * records and serves the queues. Thread-safe.
 */
final class LocalPermitStore implements PermitStore {

    private final String member;
    private final LocalKeys keys;
    private final LocalPermitBackend backend;
    private volatile boolean closed;

    LocalPermitStore(String member, LocalKeys keys, LocalPermitBackend backend) {
        this.member = member;
        this.keys = keys;
        this.backend = backend;
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        if (closed) {
            return closedAlready();
        }
        Step step = keys.step(claim.key(), (table, now) -> table.claim(member, claim, now, arrival(claim, now)));
        if (closed) { // close() may have run before this key existed, so its record is dropped here
            leave(claim.key());
            return closedAlready();
        }
        return CompletableFuture.completedFuture(step.answer().orElseThrow());
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        if (closed) {
            return closedAlready();
        }
        AtomicLong at = new AtomicLong();
        Operation refresh = (table, now) -> {
            at.setPlain(now);
            return table.refresh(now);
        };
        KeyState state = keys.read(key, refresh, table -> table.state(key, at.getPlain()))
                .orElseGet(() -> new KeyState(key, 0, OverrideLimit.empty(), List.of()));
        keys.sweep();
        List<MemberState> named = state.members().stream()
                .map(m -> m.named(m.member(), backend.nameOf(m.member())))
                .toList();
        return CompletableFuture.completedFuture(new KeyState(key, state.used(), state.override(), named));
    }

    @Override
    public CompletionStage<KeyList> keys(int most) {
        return CompletableFuture.completedFuture(KeyList.of(keys.keys().stream(), most));
    }

    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        return change(key, (table, now) -> table.override(limit, now));
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return change(key, (table, now) -> table.lift(ended, now));
    }

    @SuppressWarnings("NullAway") // a Void is null
    private CompletionStage<Void> change(String key, Operation operation) {
        if (closed) {
            return closedAlready();
        }
        keys.step(key, operation);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Integer> evict(String key, String from) {
        if (closed) {
            return closedAlready();
        }
        AtomicInteger taken = new AtomicInteger();
        keys.read(
                key,
                (table, now) -> {
                    taken.setPlain(table.view(from, now).map(Holding::permits).orElse(0));
                    return table.evict(from, now);
                },
                KeyTable::isEmpty);
        return CompletableFuture.completedFuture(taken.getPlain());
    }

    @Override
    public boolean isShared() {
        return backend.isShared();
    }

    @Override
    public boolean endsPermitsOnClose() {
        return true;
    }

    @Override
    public void close() {
        closed = true;
        backend.left(member);
        keys.keys().forEach(this::leave);
    }

    private void leave(String key) {
        keys.read(key, (table, now) -> table.remove(member, now), KeyTable::isEmpty);
    }

    private static long arrival(Claim claim, long now) {
        long waited = TimeUnit.MICROSECONDS.convert(claim.head().waited());
        return now - waited;
    }

    private <T> CompletionStage<T> closedAlready() {
        return CompletableFuture.failedFuture(
                PermitStoreException.permanent("Member " + member + " has left the store", null));
    }
}
