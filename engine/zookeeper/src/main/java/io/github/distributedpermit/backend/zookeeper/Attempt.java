package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.Optional;

/**
 * A request on its way.
 *
 * @param link the session it began in; it may not end in another
 * @param request what it is about
 * @param number how often it lost a race
 * @param certain whether the outcome of each claim before is known
 * @param answered the highest sequence of a claim that was answered before
 */
record Attempt(Link link, Request request, int number, boolean certain, long answered) {

    Attempt next() {
        return new Attempt(link, request, number + 1, certain, answered);
    }

    /** Whether the claim was overtaken by one that has been answered, or is a copy of it. */
    boolean isDelayed() {
        return request.claim().sequence() <= answered;
    }

    /** What the claim makes of the snapshot. The caller holds the lock of the places. */
    Draft draft(String member, Snapshot snapshot, Places places) {
        KeyTable table = snapshot.table();
        long fresh = snapshot.absolute(table.version() + 1);
        long since = snapshot.relative(places.since(request.arrival(), fresh));
        Claim claim = isDelayed()
                ? withoutEffect(request.claim(), answered, snapshot.document().record(member))
                : request.claim();
        return Draft.of(snapshot, table, table.claim(member, claim, 0, since));
    }

    /**
     * A delayed claim changes nothing, also where the document cannot tell that it is delayed: the record may be gone, or
     * have a lower sequence than the last claim that was answered. It is answered with the present state.
     */
    static Claim withoutEffect(Claim claim, long answered, Optional<PermitRecord> record) {
        long sequence = record.map(PermitRecord::sequence).orElse(answered);
        return new Claim(claim.key(), claim.limit(), sequence, 0, 0, 0, Duration.ZERO, claim.lease(), false);
    }
}
