package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A member in a test. It waits for each answer, and keeps every notice. */
final class Peer implements HoldingListener {

    private static final int ATTEMPTS = 5_000;

    private final String id = UUID.randomUUID().toString();
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private final List<Integer> granted = new CopyOnWriteArrayList<>();
    private final List<String> expired = new CopyOnWriteArrayList<>();
    private final StoreFixture fixture;
    private final PermitStore store;
    /** By key, what it has to take for the present state, as the core does. */
    private final Map<String, Holding> latest = new ConcurrentHashMap<>();

    private long sequence;

    Peer(StoreFixture fixture) {
        this.fixture = fixture;
        this.store = fixture.backend().join(new Member(id, name()), this);
    }

    String id() {
        return id;
    }

    String name() {
        return "contract@localhost:" + id;
    }

    PermitStore store() {
        return store;
    }

    long sequence() {
        return sequence;
    }

    /** Claims this many in all, and waits in the queue for those it does not get. */
    Holding queue(String key, int limit, int wanted) {
        return claim(queueing(key, limit, wanted));
    }

    /** Claims this many in all, but does not wait. */
    Holding attempt(String key, int limit, int wanted) {
        return claim(keeping(key, limit, wanted).tried(1));
    }

    /** Wants no more than this: a return, a renewal, or the end of waiting. */
    Holding keep(String key, int limit, int permits) {
        return claim(keeping(key, limit, permits));
    }

    Claim queueing(String key, int limit, int wanted) {
        return keeping(key, limit, wanted).queued(1);
    }

    /** Without the sequence, which {@link #next} gives it. */
    Claim keeping(String key, int limit, int permits) {
        return Claim.of(key, 0, fixture.lease()).limit(limit).wanted(permits);
    }

    /** Sends the claim with the member's next sequence. */
    Holding claim(Claim claim) {
        return send(next(claim));
    }

    /** Gives the claim the member's next sequence. */
    Claim next(Claim claim) {
        return claim.sequence(++sequence);
    }

    /**
     * Sends a claim as it is, and again if it or its answer is lost: that must make no difference. An answer counts whichever
     * attempt it belongs to. A store that always takes longer than the pause between two attempts would otherwise never be
     * found to have answered, since each answer belongs to an attempt before the last one.
     */
    Holding send(Claim claim) {
        CompletableFuture<Holding> answered = new CompletableFuture<>();
        for (int i = 0; i < ATTEMPTS; i++) {
            CompletableFuture<Holding> attempt = begin(claim);
            attempt.thenAccept(answered::complete);
            if (fixture.arrives(CompletableFuture.anyOf(attempt, answered))) {
                return answered.isDone() ? answered.join() : attempt.join();
            }
        }
        throw new AssertionError("No answer to " + claim);
    }

    /** Sends a claim, and does not wait for the answer. */
    CompletableFuture<Holding> begin(Claim claim) {
        CompletableFuture<Holding> answer = store.claim(claim).toCompletableFuture();
        answer.thenAccept(holding -> received(claim.key(), holding));
        return answer;
    }

    private void received(String key, Holding holding) {
        latest.merge(
                key,
                holding,
                (known, next) -> next.sequence() > known.sequence()
                                || (next.sequence() == known.sequence() && next.version() > known.version())
                        ? next
                        : known);
    }

    /** How many permits it has, according to the newest of all answers and notices. */
    int permits(String key) {
        Holding holding = latest.get(key);
        return holding == null ? 0 : holding.permits();
    }

    /** Sends claims without waiting for answers in between; the answer to the last. */
    Holding sendTogether(Claim... claims) {
        Claim last = claims[claims.length - 1];
        for (Claim claim : claims) {
            CompletableFuture<Holding> answer = begin(claim);
            if (claim == last && fixture.arrives(answer)) {
                return answer.join();
            }
        }
        return send(last);
    }

    KeyState inspect(String key) {
        return answer(store.inspect(key));
    }

    KeyList keys(int most) {
        return answer(store.keys(most));
    }

    void override(String key, int limit) {
        override(key, OverrideLimit.of(limit));
    }

    void override(String key, OverrideLimit limit) {
        change(() -> store.override(key, limit));
    }

    void lift(String key, OverrideLimit ended) {
        change(() -> store.lift(key, ended));
    }

    void liftOverride(String key) {
        change(() -> store.override(key, OverrideLimit.empty()));
    }

    /** Waits until it has been notified of exactly these keys since it joined, in any order. */
    void awaitNotices(String... keys) {
        if (fixture.noticesArrive()) {
            Harness.patiently().untilAsserted(() -> assertThat(notices).containsExactlyInAnyOrder(keys));
        }
    }

    int evict(String key, String member) {
        return answer(store.evict(key, member));
    }

    /** Waits until it has been notified of this key at least once. */
    void awaitAnyNotice(String key) {
        if (fixture.noticesArrive()) {
            Harness.patiently().untilAsserted(() -> assertThat(notices).contains(key));
        }
    }

    /** Repeats what failed for the moment: a member that has just joined may have no session yet. */
    private static void change(Supplier<CompletionStage<Void>> change) {
        Harness.patiently()
                .ignoreExceptionsMatching(
                        e -> e.getCause() instanceof PermitStoreException failure && !failure.isPermanent())
                .untilAsserted(() -> answer(change.get()));
    }

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    }

    /** How many permits the notifications so far said that it has, of whatever key, in the order they came. */
    List<Integer> granted() {
        return granted;
    }

    @Override
    public void granted(String key, Holding holding) {
        received(key, holding);
        granted.add(holding.permits());
        notices.add(key);
    }

    @Override
    public void changed(String key) {
        notices.add(key);
    }

    /** The members whose permits its claims have freed: the key, the id and the number. */
    List<String> expired() {
        return expired;
    }

    @Override
    public void expired(String key, Expired member) {
        expired.add(key + " " + member.member() + " " + member.permits());
    }

    @Override
    public void alive(long sentAtNanos) {}

    @Override
    public void lost() {}
}
