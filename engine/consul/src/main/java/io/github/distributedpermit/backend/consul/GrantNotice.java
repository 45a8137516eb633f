package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.Holding;
import java.util.Map;
import java.util.Optional;

/**
 * The entry that a member writes into the inbox of a member it serves, with the transaction that grants the permits. One entry
 * per key: a later notice replaces an earlier one, because it states all that the member has. One entry for all keys would
 * lose a notice of another key that was not read yet. Immutable.
 *
 * <p>If it is lost or delayed, the member finds the grant with its next re-check.
 *
 * @param slot the lowest of its slots
 * @param nonce different each time
 * @param permits how many the member has in all after the grant
 * @param limit the limit in effect
 * @param contended whether other members wait
 * @param over whether more permits are in use than the limit allows
 */
record GrantNotice(int permits, int limit, boolean contended, boolean over, int slot, String nonce) {

    private static final System.Logger LOG = System.getLogger(GrantNotice.class.getName());

    GrantNotice(Holding holding, int slot, String nonce) {
        this(
                holding.permits(),
                holding.limit(),
                holding.others().contended(),
                holding.others().over(),
                slot,
                nonce);
    }

    /** A notice is written anew as a whole: no other client adds fields to it. */
    String text() {
        return Format.text(Map.of(
                "permits",
                permits,
                "limit",
                limit,
                "contended",
                contended,
                "over",
                over,
                "slot",
                slot,
                "nonce",
                nonce));
    }

    /**
     * Reads an entry. Empty if it is damaged, or only newer versions may use it: the grant is valid all the same, and the next
     * claim of the member finds it.
     */
    static Optional<GrantNotice> of(KeyValue entry) {
        try {
            JsonObject json = Json.object(entry.value());
            return Format.of(json).isReadable() ? Optional.of(of(json)) : Optional.empty();
        } catch (MalformedJsonException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The notice at Consul's key " + entry.key()
                            + " is damaged and is ignored; the next claim finds the grant",
                    e);
            return Optional.empty();
        }
    }

    private static GrantNotice of(JsonObject json) {
        return new GrantNotice(
                json.count("permits"),
                json.count("limit"),
                json.flag("contended"),
                json.flag("over"),
                json.count("slot"),
                json.text("nonce"));
    }

    /** What the core receives; the version follows from the index at which the notice was written. */
    Holding holding(long sequence, long version) {
        return new Holding(permits, limit, sequence, version, Holding.Others.of(contended, over));
    }
}
