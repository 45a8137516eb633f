package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.step.GracedTable;
import io.github.distributedpermit.spi.step.Lineage;
import io.github.distributedpermit.spi.step.ServerIdentity;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A server that may lose state: its tables, its clock, and a log of what was done to them. A replica is the beginning of that
 * log, applied again. Confined to one thread.
 */
final class GraceNode {

    static final Duration TOMBSTONE = Duration.ofSeconds(30);
    private static final long EPOCH_MICROS = 1_000_000_000_000L;

    private final Timeline time;
    private final long newServerGrace;
    private final String name;
    private long clockOffset;
    private final List<Op> log = new ArrayList<>();
    private Map<String, GracedTable> tables = new HashMap<>();
    private Lineage lineage;
    /** When a claim of a key came last that may have led to a grant, on the clock of the server that had it. */
    private final Map<String, Long> lastCheck = new HashMap<>();

    private boolean behind;
    ServerIdentity identity;
    /** Nothing that is sent to it or by it arrives. */
    boolean silent;
    /** How much later its replicas do what it does; nanoseconds. */
    long lag;
    /** From then on its replicas receive nothing. */
    private long cutOffAt = Long.MAX_VALUE;

    GraceNode(Timeline time, String name, ServerIdentity identity, long clockOffset, long newServerGrace) {
        this.time = time;
        this.name = name;
        this.identity = identity;
        this.clockOffset = clockOffset;
        this.newServerGrace = newServerGrace;
        this.lineage = new Lineage(newServerGrace);
    }

    private record Op(long at, Change change) {}

    /** One operation, with all that it depends on. */
    private interface Change {
        void applyTo(GraceNode node);
    }

    String name() {
        return name;
    }

    /** Microseconds. */
    long clockOffset() {
        return clockOffset;
    }

    long clock() {
        return EPOCH_MICROS + clockOffset + time.now() / 1_000;
    }

    void setClockBack(long micros) {
        clockOffset -= micros;
    }

    /** At its first claim the clock shows what that of the master showed just after a claim that it was checked for. */
    void putBehind() {
        behind = true;
    }

    private void putBehind(String key) {
        Long checked = lastCheck.get(key);
        if (behind && checked != null) {
            clockOffset += checked + 50_000 - clock();
        }
        behind = false;
    }

    /** Replicas receive nothing any more. */
    void cutOff() {
        cutOffAt = time.now();
    }

    /** Its replicas have done what it did until then. */
    long copiedUntil() {
        return cutOffAt - lag;
    }

    /** Whether a replica does what is done now. */
    boolean isCopied() {
        return time.now() <= copiedUntil();
    }

    /** Continues with the data that another server had some time ago. */
    void copy(GraceNode master, long until) {
        tables = new HashMap<>();
        lineage = new Lineage(newServerGrace);
        log.clear();
        for (Op op : List.copyOf(master.log)) {
            if (op.at <= until) {
                op.change.applyTo(this);
                log.add(op);
            }
        }
    }

    /** Lets it grant and renew no more, if it still has the epoch that the member knows. */
    void close(long epoch, long vote) {
        ServerIdentity self = identity;
        run(node -> node.lineage.close(epoch, self, vote));
    }

    /** Lets it grant again, if an earlier vote has closed it. */
    void open(long vote) {
        long now = clock();
        run(node -> node.lineage.open(vote, now));
    }

    void flush() {
        run(node -> {
            node.tables = new HashMap<>();
            node.lineage = new Lineage(node.newServerGrace);
        });
    }

    private void run(Change change) {
        log.add(new Op(time.now(), change));
        change.applyTo(this);
    }

    /** The step; empty if the server has been closed. */
    Optional<Step> claim(String member, Claim claim, long knownLease) {
        putBehind(claim.key());
        long now = clock();
        ServerIdentity self = identity;
        List<Optional<Step>> result = new ArrayList<>();
        run(node -> {
            long since = now - claim.head().waited().toNanos() / 1_000;
            Optional<Step> step =
                    node.table(claim.key()).claim(member, claim, now, since, node.lineage, self, knownLease);
            node.tidy(claim.key(), now);
            if (claim.counts().wanted() > claim.reclaim().validlyHeld()) {
                node.lastCheck.put(claim.key(), now);
            }
            result.add(step);
        });
        return result.get(0);
    }

    Step override(String key, OverrideLimit limit) {
        long now = clock();
        ServerIdentity self = identity;
        List<Step> result = new ArrayList<>();
        run(node -> {
            result.add(node.table(key).override(limit, now, node.lineage, self));
            node.tidy(key, now);
        });
        return result.get(0);
    }

    private GracedTable table(String key) {
        return tables.computeIfAbsent(key, absent -> new GracedTable(TOMBSTONE));
    }

    /** A key stays until the clock has passed its version. */
    private void tidy(String key, long now) {
        if (table(key).isEmpty() && table(key).version() <= now) {
            tables.remove(key);
        }
    }

    /** Of any member, in microseconds. */
    long longestLease() {
        return lineage.longestLease();
    }

    int used(String key) {
        GracedTable table = tables.get(key);
        return table == null ? 0 : table.used();
    }

    static ServerIdentity identity(long epoch, String run, String node, boolean promoted, long started) {
        return new ServerIdentity(epoch, run, node, promoted, started, Set.of());
    }
}
