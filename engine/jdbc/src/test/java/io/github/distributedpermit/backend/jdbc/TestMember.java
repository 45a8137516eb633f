package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/** A member with a core that only counts what it receives. */
final class TestMember implements HoldingListener, AutoCloseable {

    private static final AtomicInteger COUNT = new AtomicInteger();

    final String id = "member-" + COUNT.incrementAndGet();
    final AtomicInteger confirmations = new AtomicInteger();
    final AtomicInteger losses = new AtomicInteger();
    final AtomicReference<Optional<Holding>> notice = new AtomicReference<>(Optional.empty());
    private final AtomicLong sequence = new AtomicLong();
    private final PermitStore store;

    TestMember(DataSource source, JdbcSettings settings) {
        store = new JdbcPermitBackend(source, "", settings).join(new Member(id, id), this);
    }

    PermitStore store() {
        return store;
    }

    /** A claim that waits for what it does not get. */
    CompletionStage<Holding> claim(String key, int limit, int wanted) {
        return store.claim(Claim.of(key, sequence.incrementAndGet(), Duration.ofSeconds(15))
                .limit(limit)
                .wanted(wanted)
                .queued(1));
    }

    int permits(String key, int limit, int wanted) {
        return claim(key, limit, wanted).toCompletableFuture().join().permits();
    }

    @Override
    public void granted(String key, Holding holding) {
        notice.set(Optional.of(holding));
    }

    @Override
    public void changed(String key) {}

    @Override
    public void alive(long sentAtNanos) {
        confirmations.incrementAndGet();
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
