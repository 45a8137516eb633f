package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.OverrideLimit;
import java.util.List;
import java.util.Optional;

/**
 * A key as the store has it.
 *
 * @param used the sum as the store counts it
 * @param override the operator's limit
 * @param rows the records, also idle ones, in any order
 */
public record KeySnapshot(int used, OverrideLimit override, List<Row> rows) {

    /** A key the store knows nothing of. */
    public static final KeySnapshot NONE = new KeySnapshot(0, OverrideLimit.empty(), List.of());

    /**
     * The record of one member.
     *
     * @param member its id
     * @param permits how many it holds
     * @param wanted how many it wants
     * @param limit the limit it uses
     * @param queued whether it is waiting
     */
    public record Row(String member, int permits, int wanted, int limit, boolean queued) {}

    Optional<Row> row(Peer peer) {
        return rows.stream().filter(r -> r.member().equals(peer.id())).findFirst();
    }

    int permits(Peer peer) {
        return row(peer).map(Row::permits).orElse(0);
    }

    boolean isQueued(Peer peer) {
        return row(peer).map(Row::queued).orElse(false);
    }
}
