package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The local store behind a connection that can be cut or fall silent. */
public final class CuttableBackend implements PermitBackend {

    public enum Line {
        GOOD,
        CUT,
        BROKEN,
        SILENT,
        /** Claims are stuck on this side, so that other questions are answered. */
        CLAIMS_STUCK,
        /** Each answer takes 700 ms. */
        SLOW
    }

    private final LocalPermitBackend local = new LocalPermitBackend();
    volatile Line line = Line.GOOD;

    public CuttableBackend with(Line now) {
        line = now;
        return this;
    }

    @Override
    public String name() {
        return "cuttable";
    }

    @Override
    public String address() {
        return "store.example:4711";
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        return new Store(local.join(member, listener));
    }

    private final class Store implements PermitStore {

        private final PermitStore behind;

        Store(PermitStore behind) {
            this.behind = behind;
        }

        private <T> CompletionStage<T> send(Supplier<CompletionStage<T>> call) {
            return switch (line) {
                case GOOD, CLAIMS_STUCK -> call.get();
                case CUT ->
                    CompletableFuture.failedFuture(PermitStoreException.passing(
                            "the line is cut", new IllegalStateException("redis://user:canary@host")));
                case BROKEN -> throw new IllegalStateException("redis://user:canary@host");
                case SILENT -> new CompletableFuture<>();
                case SLOW ->
                    CompletableFuture.supplyAsync(call, CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS))
                            .thenCompose(answer -> answer);
            };
        }

        @Override
        public CompletionStage<Holding> claim(Claim claim) {
            return line == Line.CLAIMS_STUCK ? new CompletableFuture<>() : send(() -> behind.claim(claim));
        }

        @Override
        public CompletionStage<KeyState> inspect(String key) {
            return send(() -> behind.inspect(key));
        }

        @Override
        public CompletionStage<Void> override(String key, OverrideLimit limit) {
            return send(() -> behind.override(key, limit));
        }

        @Override
        public CompletionStage<Void> lift(String key, OverrideLimit ended) {
            return send(() -> behind.lift(key, ended));
        }

        @Override
        public void close() {
            behind.close();
        }
    }
}
