package io.github.distributedpermit.backend.consul;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A member in a test; it keeps all notices. */
final class TestMember implements HoldingListener, AutoCloseable {

    private final String id = UUID.randomUUID().toString();
    private final AtomicLong sequence = new AtomicLong();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger signs = new AtomicInteger();
    private final List<Map.Entry<String, Holding>> grants = new CopyOnWriteArrayList<>();
    private final ConsulSnapshotStore consul;
    private final PermitStore store;

    TestMember(ConsulPermitBackend backend) {
        Member member = new Member(id, "test@localhost:" + id);
        consul = backend.store(member);
        store = backend.join(consul, member, this);
    }

    PermitStore store() {
        return store;
    }

    /** What the store uses of Consul. */
    ConsulSnapshotStore consul() {
        return consul;
    }

    String id() {
        return id;
    }

    int losses() {
        return losses.get();
    }

    int changes() {
        return changes.get();
    }

    int signs() {
        return signs.get();
    }

    List<Holding> grants() {
        return grants.stream().map(Map.Entry::getValue).toList();
    }

    List<Holding> grants(String key) {
        return grants.stream()
                .filter(grant -> grant.getKey().equals(key))
                .map(Map.Entry::getValue)
                .toList();
    }

    /** Wants this many in all, whole, and waits in the queue for them. */
    CompletableFuture<Holding> ask(String key, int limit, int wanted, int unit) {
        return send(key, limit, wanted, unit, unit > 0, 0);
    }

    Holding queue(String key, int limit, int wanted) {
        return answer(ask(key, limit, wanted, 1));
    }

    Holding attempt(String key, int limit, int wanted) {
        return answer(send(key, limit, wanted, wanted, false, 0));
    }

    Holding keep(String key, int limit, int permits) {
        return answer(send(key, limit, permits, 0, false, 0));
    }

    /** The same with more calls that wait than those that it wants permits for. */
    Holding queue(String key, int limit, int wanted, int beyond) {
        return answer(send(key, limit, wanted, 1, true, beyond));
    }

    KeyState inspect(String key) {
        return answerOf(store.inspect(key).toCompletableFuture());
    }

    /** Repeated, since a member that has no session yet waits for one only briefly. */
    void override(String key, OverrideLimit limit) {
        await().untilAsserted(() -> answerOf(store.override(key, limit).toCompletableFuture()));
    }

    /** The same call goes on waiting. */
    Holding recheck(String key, int limit, int wanted) {
        return answer(send(key, limit, wanted, 1, true, 0, Duration.ofMinutes(1)));
    }

    private CompletableFuture<Holding> send(String key, int limit, int wanted, int unit, boolean queue, int beyond) {
        return send(key, limit, wanted, unit, queue, beyond, Duration.ZERO);
    }

    private CompletableFuture<Holding> send(
            String key, int limit, int wanted, int unit, boolean queue, int beyond, Duration waited) {
        return store.claim(Claim.of(key, sequence.incrementAndGet(), Duration.ofHours(1))
                        .limit(limit)
                        .wanted(wanted)
                        .head(new Claim.Head(unit, waited, queue))
                        .shown(new Claim.Shown(beyond)))
                .toCompletableFuture();
    }

    static Holding answer(CompletableFuture<Holding> future) {
        return answerOf(future);
    }

    private static <T> T answerOf(CompletableFuture<T> future) {
        try {
            return future.get(60, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("The store did not answer", e);
        }
    }

    static PermitStoreException failure(CompletableFuture<?> future) {
        try {
            throw new AssertionError("No failure but " + future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return (PermitStoreException) Objects.requireNonNull(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("The store did not answer", e);
        }
    }

    /** The process ends without a word. */
    void die() {
        consul.loop().end();
    }

    @Override
    public void granted(String key, Holding holding) {
        grants.add(Map.entry(key, holding));
    }

    @Override
    public void changed(String key) {
        changes.incrementAndGet();
    }

    @Override
    public void alive(long sentAtNanos) {
        signs.incrementAndGet();
    }

    @Override
    public void lost() {
        losses.incrementAndGet();
    }

    @Override
    public void close() {
        store.close();
    }
}
