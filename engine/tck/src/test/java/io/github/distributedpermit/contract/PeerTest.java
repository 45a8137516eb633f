package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The member of the contract's tests, with a store that is slow, as any store is on a busy machine. */
class PeerTest {

    private static final Duration SLOW = Duration.ofMillis(25);

    private final SlowFixture slow = new SlowFixture();

    @Test
    void answerThatTakesLongerThanThePauseBetweenTwoAttemptsIsReceived() {
        Peer peer = new Peer(new FaultyFixture(slow, 1, new Fault.Counts()));

        assertThat(peer.attempt("slow", 1, 1).permits()).isEqualTo(1);
        assertThat(peer.keep("slow", 1, 0).permits()).isZero();
    }

    /** The store in memory, which answers after 25 ms of its clock; the clock moves when a test passes time. */
    private static final class SlowFixture implements StoreFixture {

        private final NavigableMap<Long, Runnable> answers = new TreeMap<>();
        private long nanos;

        @Override
        public PermitBackend backend() {
            LocalPermitBackend local = new LocalPermitBackend(this::nanoTime);
            return new PermitBackend() {
                @Override
                public String name() {
                    return local.name();
                }

                @Override
                public PermitStore join(Member member, HoldingListener listener) {
                    return new SlowStore(local.join(member, listener));
                }
            };
        }

        @Override
        public Duration lease() {
            return Duration.ofHours(1);
        }

        @Override
        public Duration shortLease() {
            return Duration.ofSeconds(1);
        }

        @Override
        public void pass(Duration duration) {
            nanos += duration.toNanos();
            while (!answers.isEmpty() && answers.firstKey() <= nanos) {
                answers.pollFirstEntry().getValue().run();
            }
        }

        @Override
        public long nanoTime() {
            nanos++;
            return nanos;
        }

        @Override
        public KeySnapshot look(String key) {
            return KeySnapshot.NONE;
        }

        @Override
        public Collection<String> residue() {
            return List.of();
        }

        @Override
        public void passIdleTime() {}

        @Override
        public void close() {}

        private final class SlowStore implements PermitStore {

            private final PermitStore store;

            SlowStore(PermitStore store) {
                this.store = store;
            }

            @Override
            public CompletionStage<Holding> claim(Claim claim) {
                CompletableFuture<Holding> answer = new CompletableFuture<>();
                store.claim(claim)
                        .thenAccept(
                                holding -> answers.put(nanoTime() + SLOW.toNanos(), () -> answer.complete(holding)));
                return answer;
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
            public CompletionStage<KeyState> inspect(String key) {
                return store.inspect(key);
            }

            @Override
            public void close() {
                store.close();
            }
        }
    }
}
