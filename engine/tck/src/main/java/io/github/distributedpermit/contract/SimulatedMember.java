package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A member that keeps the protocol's discipline on a few keys, as the core does, in as few words as possible. */
final class SimulatedMember implements HoldingListener {

    private final StoreFixture fixture;
    private final Duration lease;
    private final PermitStore store;
    private final List<SimulatedKey> keys = new ArrayList<>();
    private long sequence;
    private final AtomicInteger lostSessions = new AtomicInteger();
    private boolean dead;

    SimulatedMember(StoreFixture fixture, Duration lease, Map<String, Integer> limits) {
        this.fixture = fixture;
        this.lease = lease;
        String id = UUID.randomUUID().toString();
        this.store = fixture.backend().join(new Member(id, "simulated"), this);
        limits.forEach((key, limit) -> keys.add(new SimulatedKey(this, key, limit)));
    }

    PermitStore store() {
        return store;
    }

    StoreFixture fixture() {
        return fixture;
    }

    Duration lease() {
        return lease;
    }

    List<SimulatedKey> keys() {
        return keys;
    }

    SimulatedKey key(String key) {
        return keys.stream().filter(k -> k.key().equals(key)).findFirst().orElseThrow();
    }

    /** Whether the store keeps its members alive itself, so that its answers do not run out. */
    boolean isKeptAlive() {
        return store.session().isPresent();
    }

    /** One counter over all keys. */
    long nextSequence() {
        sequence++;
        return sequence;
    }

    /** Dies without a word: what it had is unowned, what it sent still arrives. */
    void crash() {
        dead = true;
        keys.clear();
    }

    boolean isDead() {
        return dead;
    }

    @Override
    public void granted(String key, Holding holding) {
        if (!dead) {
            key(key).apply(holding);
        }
    }

    @Override
    public void changed(String key) {
        if (!dead) {
            key(key).claim();
        }
    }

    @Override
    public void alive(long sentAtNanos) {}

    /** May come at any moment, from a thread of the store. */
    @Override
    public void lost() {
        lostSessions.incrementAndGet();
    }

    /** How often the store has told that all is lost. */
    int lostSessions() {
        return lostSessions.get();
    }
}
