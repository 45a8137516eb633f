package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;

/**
 * What the store has recorded for the keys of one name, over all instances.
 *
 * @param holders permits that the members hold
 * @param waiters calls that wait, as of the last claim of each member
 * @param members members that hold or wait, counted once for each key
 * @param limit the limits in force of the keys
 * @param mixed keys for which members state different limits, and for which the operator has set none
 * @param full keys of which all permits are in use while calls wait; not those that are paused
 * @param paused keys whose limit is 0 by order of the operator, or of which all calls are paused
 * @param inspected how many keys these are
 * @param skipped how many more keys are in use, but were not inspected or could not be
 */
record FleetTotals(
        long holders,
        long waiters,
        long members,
        long limit,
        int mixed,
        int full,
        int paused,
        int inspected,
        int skipped) {

    static final FleetTotals NONE = new FleetTotals(0, 0, 0, 0, 0, 0, 0, 0, 0);

    /**
     * The numbers of one key.
     *
     * @param own the limit that this instance states, which applies if no other member states a higher one and the operator has
     *     set none
     */
    static FleetTotals of(KeyState key, int own) {
        long calls = 0;
        int stated = own == PermitDefinition.PER_CALL ? 0 : own;
        boolean differ = false;
        for (MemberState member : key.members()) {
            stated = Math.max(stated, member.limit());
            differ |= member.limit() != own && own != PermitDefinition.PER_CALL;
            calls += member.calls();
        }
        int limit = key.override().orElse(stated);
        return new FleetTotals(
                key.used(),
                calls,
                key.members().size(),
                limit,
                differ && key.override().isEmpty() ? 1 : 0,
                limit > 0 && key.used() >= limit && calls > 0 ? 1 : 0,
                key.override().limit() == 0 ? 1 : 0,
                1,
                0);
    }

    /** The same while an operator has paused all calls of the name, so that all of its keys are, whatever is known of them. */
    FleetTotals asPaused() {
        return new FleetTotals(holders, waiters, members, 0, 0, 0, inspected + skipped, inspected, skipped);
    }

    FleetTotals plus(FleetTotals other) {
        return new FleetTotals(
                holders + other.holders,
                waiters + other.waiters,
                members + other.members,
                limit + other.limit,
                mixed + other.mixed,
                full + other.full,
                paused + other.paused,
                inspected + other.inspected,
                skipped + other.skipped);
    }

    /** With keys that are not known. */
    FleetTotals andSkipped(int keys) {
        return new FleetTotals(holders, waiters, members, limit, mixed, full, paused, inspected, skipped + keys);
    }

    /** How many keys are paused; not a number if that is not known of any of them. */
    double knownPaused() {
        return isUnknown() && paused == 0 ? Double.NaN : paused;
    }

    /** Whether the numbers say nothing, because keys are in use and none of them is known. */
    boolean isUnknown() {
        return inspected == 0 && skipped > 0;
    }
}
