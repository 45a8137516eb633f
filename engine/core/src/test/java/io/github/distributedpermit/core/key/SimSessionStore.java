package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.step.KeyTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A store of one key that keeps its members alive by sessions, which the test renews, loses and ends by hand. */
final class SimSessionStore {

    static final Duration SESSION = Duration.ofSeconds(10);

    private final KeyTable table = KeyTable.ofSessions(List.of(), OverrideLimit.empty(), 0);
    private final List<Link> links = new ArrayList<>();
    private final Timeline time;
    private long index;
    boolean refusing;

    SimSessionStore(Timeline time) {
        this.time = time;
    }

    PermitBackend backend(SimProcess process) {
        return new PermitBackend() {
            @Override
            public String name() {
                return "sessions";
            }

            @Override
            public Link join(io.github.distributedpermit.spi.Member member, HoldingListener listener) {
                Link link = new Link(member.id(), process, listener);
                links.add(link);
                return link;
            }
        };
    }

    Link link(String member) {
        return links.stream().filter(l -> l.member.equals(member)).findFirst().orElseThrow();
    }

    int used() {
        return table.used();
    }

    /** One member's connection. */
    final class Link implements PermitStore {
        final String member;
        final HoldingListener listener;
        final List<Claim> claims = new ArrayList<>();
        private final SimProcess process;

        private Link(String member, SimProcess process, HoldingListener listener) {
            this.member = member;
            this.process = process;
            this.listener = listener;
        }

        /** The session is confirmed; the renewal was sent just now. */
        void alive() {
            listener.alive(process.clock());
        }

        /** The store ends the session. */
        void lose() {
            table.retain(Set.of());
            table.refresh(++index);
            listener.lost();
        }

        @Override
        public Optional<Duration> session() {
            return Optional.of(SESSION);
        }

        @Override
        public CompletionStage<Holding> claim(Claim claim) {
            claims.add(claim);
            CompletableFuture<Holding> answer = new CompletableFuture<>();
            time.after(Weather.MILLI, process, () -> {
                if (refusing) {
                    answer.completeExceptionally(PermitStoreException.passing("no leader", null));
                } else {
                    index++;
                    answer.complete(
                            table.claim(member, claim, index, index).answer().orElseThrow());
                }
            });
            return answer;
        }

        @Override
        public CompletionStage<KeyState> inspect(String key) {
            return CompletableFuture.completedFuture(table.state(key));
        }

        @Override
        public CompletionStage<Void> override(String key, OverrideLimit limit) {
            table.override(limit, ++index);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<Void> lift(String key, OverrideLimit ended) {
            return override(key, OverrideLimit.empty());
        }

        @Override
        public void close() {}
    }
}
