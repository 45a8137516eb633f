package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.contract.StoreFixture;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** The store in memory with a clock of its own, which moves by a microsecond whenever it is read. */
final class LocalFixture implements StoreFixture {

    private final AtomicLong nanos = new AtomicLong(Long.MIN_VALUE / 2);
    private final LocalPermitBackend backend = new LocalPermitBackend(this::nanoTime);

    @Override
    public PermitBackend backend() {
        return backend;
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
    public int runs() {
        return 40;
    }

    @Override
    public void pass(Duration duration) {
        nanos.addAndGet(duration.toNanos());
    }

    @Override
    public long nanoTime() {
        return nanos.addAndGet(1_000);
    }

    @Override
    public KeySnapshot look(String key) {
        KeyTable table = backend.keys.tables.get(key);
        return table == null ? KeySnapshot.NONE : snapshot(table);
    }

    static KeySnapshot snapshot(KeyTable table) {
        List<Row> rows = table.records().stream().map(LocalFixture::row).toList();
        return new KeySnapshot(table.used(), table.override(), rows);
    }

    private static Row row(PermitRecord r) {
        return new Row(r.member(), r.permits(), r.wanted(), r.limit(), r.isQueued());
    }

    @Override
    public Collection<String> residue() {
        return Set.copyOf(backend.keys.keys());
    }

    @Override
    public void passIdleTime() {
        // a turn comes once in 30 s, and the second finds the tombstone lapsed
        for (int turn = 0; turn < 2; turn++) {
            pass(Duration.ofSeconds(31));
            for (int i = 0; i < 100; i++) {
                backend.keys.sweep();
            }
        }
    }

    @Override
    public void close() {}
}
