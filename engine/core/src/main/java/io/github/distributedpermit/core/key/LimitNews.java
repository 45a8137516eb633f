package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Holding;
import org.jspecify.annotations.Nullable;

/**
 * What answers show about the limit of one key, for gauges and as warnings: another limit than before, a higher one in other
 * applications, an operator's limit that was lost with the state of the store. Guarded by the lock of the {@link KeyQueue}.
 */
final class LimitNews {

    private final String key;
    private final KeyQueueHost host;
    private final Ledger ledger;

    /** The operator's limit when the records of this member were lost; {@code null} if it is certain. */
    private @Nullable Integer atLoss;

    LimitNews(String key, KeyQueueHost host, Ledger ledger) {
        this.key = key;
        this.host = host;
        this.ledger = ledger;
    }

    /** The store may lose the operator's limit, or have lost it, with the records of this member. */
    void mayBeLost() {
        Integer known = ledger.knownLimit();
        if (known != null && ledger.isOverridden()) {
            atLoss = known;
        }
    }

    /**
     * An answer was applied.
     *
     * @param own the limit that the settings state
     */
    void answered(Holding holding, int own, PermitName permit, Effects effects) {
        if (host.noteLimit(key, holding.limit(), ledger.statedLimit())) {
            effects.execute(() -> host.limitChanged(key));
        }
        permit.limitIs(holding.limit(), holding.others().over());
        if (holding.others().over() && holding.limit() == own && permit.isNewToHigherLimits()) {
            effects.execute(() -> permit.warnOfHigherLimit(key));
        }
        Integer before = atLoss;
        atLoss = null;
        if (before != null && !ledger.isOverridden()) {
            effects.execute(() -> permit.warnOfLostOverride(key, before, holding.limit()));
        }
    }
}
