package io.github.distributedpermit.contract;

import io.github.distributedpermit.contract.Fault.Kind;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A store behind a bad network: claims and their answers suffer, what operators ask does not. */
final class FaultyStore implements PermitStore {

    private final String route;
    private final HoldingListener listener;
    private final PermitStore store;
    private final FaultyNetwork network;

    FaultyStore(String route, HoldingListener listener, PermitStore store, FaultyNetwork network) {
        this.route = route;
        this.listener = listener;
        this.store = store;
        this.network = network;
    }

    PermitStore unwrapped() {
        return store;
    }

    /** A lost claim or answer leaves the future open for ever, as a silent store would. */
    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        Runnable delivery = () -> store.claim(claim).whenComplete((holding, failure) -> {
            Runnable back = () -> complete(answer, holding, failure);
            network.send(
                    Kind.ANSWER, route, back, failure == null ? () -> listener.granted(claim.key(), holding) : back);
        });
        network.send(Kind.CLAIM, route, delivery, delivery);
        return answer;
    }

    private static void complete(
            CompletableFuture<Holding> answer, @Nullable Holding holding, @Nullable Throwable failure) {
        if (holding != null) {
            answer.complete(holding);
        } else if (failure != null) {
            answer.completeExceptionally(failure);
        }
    }

    @Override
    public boolean endsPermitsOnClose() {
        return store.endsPermitsOnClose();
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return store.inspect(key);
    }

    @Override
    public CompletionStage<KeyList> keys(int most) {
        return store.keys(most);
    }

    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        return store.override(key, limit);
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return store.lift(key, ended);
    }

    @Override
    public CompletionStage<Integer> evict(String key, String member) {
        return store.evict(key, member);
    }

    @Override
    public Optional<Duration> session() {
        return store.session();
    }

    @Override
    public void close() {
        store.close();
    }
}
