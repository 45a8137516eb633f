package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PendingClaim;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One member's connection to the simulated store. */
final class SimLink implements PermitStore {

    final String member;
    final SimProcess process;
    final HoldingListener listener;
    /** All claims ever sent, in order; for tests of what is sent. */
    final List<Claim> claims = new ArrayList<>();

    private final SimNetwork network;
    private final Map<Long, Long> sentAt = new HashMap<>();
    private boolean closed;
    /** Whether nothing that the store sends arrives, though everything sent to it does. */
    boolean deaf;
    /** Claims wait in the client until then, on the common clock. */
    long writesFrom;
    /** The key whose claims are lost; {@code null} for none. */
    @Nullable
    String lostKey;
    /** The last key whose limit this member sets before it crashes; {@code null} for none. */
    @Nullable
    String lastSet;

    private boolean crashed;

    SimLink(SimNetwork network, String member, SimProcess process, HoldingListener listener) {
        this.network = network;
        this.member = member;
        this.process = process;
        this.listener = listener;
    }

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        if (closed) {
            return CompletableFuture.failedFuture(PermitStoreException.permanent("closed", null));
        }
        claims.add(claim);
        sentAt.put(claim.sequence(), process.clock());
        network.tap.sent(this, claim);
        Answer answer = new Answer();
        long delay = network.weather.writeDelay(claim.sequence());
        long wait = Math.max(writesFrom - network.time.now(), delay);
        if (delay == Weather.LOST) {
            return answer;
        } else if (wait > 0) {
            network.time.after(wait, process, () -> write(claim, answer));
        } else {
            write(claim, answer);
        }
        return answer;
    }

    private void write(Claim claim, Answer answer) {
        answer.writtenAt = OptionalLong.of(process.clock());
        travel(claim, answer);
        if (network.weather.doubles()) {
            travel(claim, answer);
        }
    }

    /** An answer to come. */
    private static final class Answer extends CompletableFuture<Holding> implements PendingClaim {
        private OptionalLong writtenAt = OptionalLong.empty();

        @Override
        public OptionalLong writtenAtNanos() {
            return writtenAt;
        }
    }

    private void travel(Claim claim, CompletableFuture<Holding> answer) {
        boolean fails = network.weather.fails();
        long there = network.weather.claimDelay();
        if (fails) {
            Throwable cause = network.failure.get();
            network.time.after(Math.max(0, network.weather.answerDelay()), process, () -> {
                network.tap.failed(this, claim, cause);
                answer.completeExceptionally(cause);
            });
        }
        if (there == Weather.LOST || claim.key().equals(lostKey)) {
            return;
        }
        network.time.after(there, null, () -> {
            Holding holding = network.server.claim(member, claim);
            network.tap.arrived(this, claim, holding);
            long back = network.weather.answerDelay();
            if (back != Weather.LOST && !deaf) {
                network.time.after(back, process, () -> {
                    if (!answer.isDone()) {
                        network.tap.delivered(this, claim.key(), holding, claim.sequence());
                        answer.complete(holding);
                    }
                });
            }
        });
    }

    void push(String key, Holding holding) {
        deliver(key, holding);
        if (network.weather.doubles()) {
            deliver(key, holding);
        }
    }

    private void deliver(String key, Holding holding) {
        long delay = network.weather.pushDelay();
        if (delay != Weather.LOST && !deaf) {
            network.time.after(delay, process, () -> {
                if (!closed) {
                    network.tap.delivered(this, key, holding, SimNetwork.PUSHED);
                    listener.granted(key, holding);
                }
            });
        }
    }

    /** When the member sent the claim, on the member's clock. */
    long sentAt(long sequence) {
        return sentAt.getOrDefault(sequence, Long.MIN_VALUE);
    }

    long count(String key) {
        return claims.stream().filter(c -> c.key().equals(key)).count();
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        SimTable table = network.server.find(key);
        if (table == null) {
            return CompletableFuture.completedFuture(new KeyState(key, 0, OverrideLimit.empty(), List.of()));
        }
        List<KeyState.MemberState> members = new ArrayList<>();
        for (SimTable.Row row : table.rows()) {
            members.add(
                    new KeyState.MemberState(row.member(), row.permits(), row.wanted(), row.limit(), row.queued(), 0));
        }
        return CompletableFuture.completedFuture(new KeyState(key, table.used(), table.override(), members));
    }

    @Override
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        if (key.equals(lostKey) || crashed) {
            return CompletableFuture.failedFuture(PermitStoreException.passing("no answer", null));
        }
        network.server.override(key, limit);
        crashed = key.equals(lastSet);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return override(key, OverrideLimit.empty());
    }

    @Override
    public void close() {
        closed = true;
    }
}
