package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.CallView;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The calls that use one key in this process, as operators and gauges see them, and the names of their permits. Guarded by the lock of the
 * {@link KeyQueue}.
 */
final class KeyUsers {

    private final String key;
    private final Ledger ledger;
    private final OutageCalls outageCalls;
    private final WaiterQueue waiters;
    private final HeldBackCalls heldBack;

    /** The name that was last used; {@code null} if none was. */
    private @Nullable PermitName last;

    /** Whether calls of more than one name have used the key. */
    private boolean several;

    KeyUsers(String key, Ledger ledger, OutageCalls outageCalls, WaiterQueue waiters, HeldBackCalls heldBack) {
        this.key = key;
        this.ledger = ledger;
        this.outageCalls = outageCalls;
        this.waiters = waiters;
        this.heldBack = heldBack;
    }

    /** A call of this name has arrived. */
    void arrived(PermitName permit) {
        // written only if it changes, because each write invalidates the cache line for the other processors
        if (last != permit) {
            several |= last != null;
            last = permit;
        }
    }

    /** The name that was last used; {@code null} if none was. */
    @Nullable
    PermitName last() {
        return last;
    }

    /** How many calls wait. */
    int waiting() {
        return waiters.size() + heldBack.size();
    }

    /** How many permits calls have, of the store or without it. */
    int inUse() {
        return ledger.inUse() + outageCalls.inUse();
    }

    /** The names of the calls that hold or wait. */
    Set<PermitName> names() {
        Set<PermitName> names = new HashSet<>();
        if (several) {
            for (Grant g = ledger.holders.newest(); g != null; g = g.previous) {
                names.add(g.permit);
            }
            outageCalls.forEach(g -> names.add(g.permit));
            for (Waiter w = waiters.first(); w != null; w = w.next) {
                names.add(w.permit);
            }
            heldBack.forEach(w -> names.add(w.permit));
        } else if (last != null && (inUse() > 0 || !waiters.isEmpty() || !heldBack.isEmpty())) {
            names.add(last);
        }
        return names;
    }

    /** The same; without such calls the name that was last used, if any was. */
    Set<PermitName> namesOrLast() {
        Set<PermitName> names = names();
        return names.isEmpty() && last != null ? Set.of(last) : names;
    }

    /**
     * For gauges, see {@link KeyQueue#survey}. With several names it shows all calls, so that no name hides another; so
     * it does with head starts, since the first call may not be the oldest one.
     */
    void survey(KeyQueueVisitor visitor) {
        Grant newest = ledger.holders.newest();
        for (Grant grant = newest; grant != null; grant = several ? grant.previous : null) {
            visitor.holds(grant.permit, key, grant.grantedAt);
        }
        Grant oldest = several ? newest : ledger.holders.oldest();
        if (oldest != null && oldest != newest) {
            visitor.holds(oldest.permit, key, oldest.grantedAt);
        }
        outageCalls.forEach(each -> visitor.holds(each.permit, key, each.grantedAt));
        boolean all = several || waiters.hasHeadStarts();
        Waiter waiter = waiters.firstCall();
        while (waiter != null) {
            visitor.waits(waiter.permit, key, waiter.arrival, waiter.inner);
            waiter = all ? waiter.next : null;
        }
        heldBack.forEach(held -> visitor.waits(held.permit, key, held.arrival, held.inner));
        waiters.groups.all().forEach(group -> {
            if (group.waiting > 0) {
                visitor.group(group.permit);
            }
        });
    }

    /** Adds the calls, those that hold permits first, until the list has so many. */
    void describe(long now, int most, List<CallView> views) {
        ledger.holders.describe(now, most, views);
        outageCalls.describe(now, most, views);
        waiters.describe(now, most, views);
        heldBack.describe(now, most, views);
    }
}
