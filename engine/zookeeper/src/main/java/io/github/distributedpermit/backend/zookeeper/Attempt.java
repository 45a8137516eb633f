package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.step.KeyTable;

/**
 * A request on its way.
 *
 * @param link the session it began in; it may not end in another
 * @param request what it is about
 * @param number how often it lost a race
 */
record Attempt(Link link, Request request, int number) {

    Attempt next() {
        return new Attempt(link, request, number + 1);
    }

    /** What the claim makes of the snapshot. The caller holds the lock of the places. */
    Draft draft(String member, Snapshot snapshot, Places places) {
        KeyTable table = snapshot.table();
        long fresh = snapshot.absolute(table.version() + 1);
        long since = snapshot.relative(places.since(request.arrival(), fresh));
        return Draft.of(snapshot, table, table.claim(member, request.claim(), 0, since));
    }
}
