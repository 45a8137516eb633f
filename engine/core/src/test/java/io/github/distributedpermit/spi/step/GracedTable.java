package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A leased table of a store that may lose its state, and then gives back what members hold before it grants anything else: the Java
 * form of the step in Redis, for the simulation and for the tests that compare both forms.
 */
public final class GracedTable extends KeyTable {

    private final LeasedGrace grace;

    /** An empty table; see {@link KeyTable#leased}. */
    public GracedTable(Duration tombstone) {
        this(tombstone, new LeasedGrace());
    }

    private GracedTable(Duration tombstone, LeasedGrace grace) {
        super(TimeUnit.MICROSECONDS.convert(tombstone), List.of(), OverrideLimit.empty(), 0, grace);
        this.grace = grace;
    }

    /** The claim of a member that does not know of graces. It gets nothing back. */
    @Override
    public Step claim(String member, Claim claim, long now, long since) {
        expire(now);
        return act(member, claim, now, since, 0);
    }

    /**
     * The claim of a member.
     *
     * @param lineage which server has written the data last
     * @param server the one that executes the claim
     * @param knownLease the longest lease of any member that the claimer has received with an answer of any key, in microseconds
     * @return the step; empty if the server may not grant any more, because another one has taken its place
     */
    public Optional<Step> claim(
            String member, Claim claim, long now, long since, Lineage lineage, ServerIdentity server, long knownLease) {
        if (lineage.isClosed(server, now)) {
            return Optional.empty();
        }
        expire(now);
        lineage.state(TimeUnit.MICROSECONDS.convert(claim.lease()), now);
        PermitRecord r = records.get(member);
        boolean lost = grace.isDue(claim, r == null ? 0 : r.permits(), records.waiting() > 0, lineage, now)
                && grace.check(server, lineage, claim, knownLease, now);
        if (lost) {
            records.members().forEach(records::remove);
        }
        if (lost || grace.isActive()) {
            version = Math.max(
                    version,
                    claim.reclaim().knownVersion()); // the clock may be behind the one that versions have followed
        }
        grace.extend(lineage);
        return Optional.of(act(member, claim, now, since, grace.reclaimable(claim, lineage, now)));
    }

    /**
     * Sets or lifts the operator's limit. No member is served if the store may have lost the state of the key, which the next claim
     * examines, or if the server was closed.
     */
    public Step override(OverrideLimit limit, long now, Lineage lineage, ServerIdentity server) {
        long written = grace.epoch();
        // The server has written the key itself and was not closed, so that nothing of it can be missing.
        if (written == 0 || (Lineage.isOf(server, written) && lineage.closed() != written)) {
            return override(limit, now);
        }
        records.override(limit);
        return step(null, now);
    }

    /** The grace of the key as text. */
    public String grace(long now) {
        return grace.isActive() && grace.end() > now ? grace.toString() : "no grace";
    }
}
