package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.awaitility.core.ConditionFactory;

/** The members and keys of one test; after it, the invariants. */
public final class Harness {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int FRESH_LIMIT = 7;

    private final StoreFixture fixture;
    private final List<Peer> peers = new ArrayList<>();
    private final List<PermitStore> others = new ArrayList<>();
    private final Set<Peer> gone = new HashSet<>();
    private final Set<String> keys = new LinkedHashSet<>();
    private final Set<String> lowered = new HashSet<>();

    Harness(StoreFixture fixture) {
        this.fixture = fixture;
    }

    StoreFixture fixture() {
        return fixture;
    }

    Peer peer() {
        Peer peer = new Peer(fixture);
        peers.add(peer);
        return peer;
    }

    /** The store of a member that is not a peer; it is closed after the test. */
    void closeAfterwards(PermitStore store) {
        others.add(store);
    }

    /** A key no other test has. */
    String key() {
        return key("contract-" + UUID.randomUUID());
    }

    String key(String key) {
        keys.add(key);
        return key;
    }

    KeySnapshot look(String key) {
        return fixture.look(key);
    }

    /** From now on more may be in use than the limits of those that hold allow. */
    void lowered(String key) {
        lowered.add(key);
    }

    void die(Peer peer) {
        gone.add(peer);
        fixture.die(peer.store());
    }

    void close(Peer peer) {
        gone.add(peer);
        peer.store().close();
    }

    static ConditionFactory patiently() {
        return await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(10));
    }

    /** What must be true at any moment. */
    void assertSound(String key) {
        KeySnapshot seen = look(key);
        assertThat(seen.rows().stream().mapToInt(Row::permits).sum())
                .as("the store's sum of permits in %s", seen)
                .isEqualTo(seen.used());
        if (!lowered.contains(key)) {
            int limit = seen.override()
                    .orElse(seen.rows().stream()
                            .filter(r -> r.permits() > 0)
                            .mapToInt(Row::limit)
                            .max()
                            .orElse(0));
            assertThat(seen.used()).as("used within the limit in %s", seen).isLessThanOrEqualTo(limit);
        }
        assertThat(seen.rows())
                .as("a waiting member wants more")
                .allMatch(r -> !r.queued() || r.wanted() > r.permits());
    }

    /** Law 8, while the members live: no key is in use, and none of them claims anything any more. */
    void assertNothingIsLeft() {
        fixture.passIdleTime();
        patiently()
                .untilAsserted(() -> assertThat(fixture.residue()).as("residue").isEmpty());
    }

    /** The invariants; then everybody returns everything, nothing is left, and all of it is free again. */
    void verify() {
        keys.forEach(this::assertSound);
        fixture.calm();
        keys.forEach(this::assertSound);
        boolean overridden = keys.stream().anyMatch(key -> look(key).override().isPresent());
        for (Peer peer : peers) {
            if (!gone.contains(peer)) {
                keys.forEach(key -> peer.keep(key, 1, 0));
            }
        }
        // Before other claims, which could remove what the returns have left.
        if (!overridden) {
            assertNothingIsLeft();
        }
        Peer fresh = peer();
        keys.forEach(fresh::liftOverride);
        for (String key : keys) {
            patiently()
                    .untilAsserted(() -> assertThat(
                                    fresh.attempt(key, FRESH_LIMIT, FRESH_LIMIT).permits())
                            .as("all of %s is free again: %s", key, look(key))
                            .isEqualTo(FRESH_LIMIT));
            assertThat(fresh.attempt(key, FRESH_LIMIT, FRESH_LIMIT + 1).permits())
                    .isEqualTo(FRESH_LIMIT);
            fresh.keep(key, FRESH_LIMIT, 0);
            assertThat(look(key).used()).isZero();
        }
        assertNothingIsLeft();
        peers.forEach(peer -> peer.store().close());
        others.forEach(PermitStore::close);
        patiently()
                .untilAsserted(() -> assertThat(fixture.residue())
                        .as("residue after all have left")
                        .isEmpty());
    }
}
