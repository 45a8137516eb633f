package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Rules;
import io.github.distributedpermit.harness.fleet.Store;
import io.github.distributedpermit.harness.member.Orders;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Who takes part in a run, and with which settings.
 *
 * @param members processes
 * @param limit of each key
 * @param lease {@code distributed-permit.lease}
 * @param orders what they do; the seed is that of the run
 * @param recovery see {@link Rules#recovery()}
 * @param order see {@link Rules#order()}
 * @param extra further settings of the members
 * @param over see {@link Rules#over()}
 * @param firstCall see {@link Rules#firstCall()}
 * @param late see {@link Rules#late()}
 */
public record Setup(
        int members,
        int limit,
        Duration lease,
        Orders orders,
        Duration recovery,
        @Nullable Duration order,
        List<String> extra,
        @Nullable Duration over,
        @Nullable Duration firstCall,
        Duration late) {

    static final Duration COMMAND_TIMEOUT = Duration.ofMillis(600);
    static final Duration TOMBSTONE = Duration.ofSeconds(2);
    static final Duration SHORT = Duration.ofSeconds(2);
    static final Duration HOUR = Duration.ofHours(1);

    /** A released permit stays with its member, as long as it may. */
    static final String LINGER = "--distributed-permit.defaults.linger=10ms";

    private static final Duration LATE = Duration.ofMillis(50);
    private static final String LEASE = "--distributed-permit.lease=";
    private static final String REDIS = "--distributed-permit.redis.";

    /** Neither {@code over} nor {@code firstCall} is bounded. */
    Setup(
            int members,
            int limit,
            Duration lease,
            Orders orders,
            Duration recovery,
            @Nullable Duration order,
            List<String> extra) {
        this(members, limit, lease, orders, recovery, order, extra, null, null, LATE);
    }

    /** Three processes with six threads each, at four keys with a limit of three; more callers than permits. */
    static Setup ordinary(Duration lease, Duration recovery) {
        return new Setup(3, 3, lease, new Orders(0, 6, 4, 0, 20_000, 3_000, 10, 10), recovery, null, List.of());
    }

    /**
     * The same without a grace of Redis after a loss of state: these rows show how long the limit is exceeded then, and how
     * soon free permits are served.
     */
    Setup withoutGrace() {
        return with(REDIS + "grace=false");
    }

    /** The same with some calls that hold for up to three seconds: longer than faults of the store, and than the lease. */
    Setup withLongHolds() {
        return withOrders(new Orders(0, 8, 4, 10_000, 3_000_000, 3_000, 10, 5));
    }

    Setup withOrders(Orders other) {
        return new Setup(members, limit, lease, other, recovery, order, extra, over, firstCall, late);
    }

    Setup with(String... more) {
        List<String> all = new ArrayList<>(extra);
        all.addAll(List.of(more));
        return new Setup(members, limit, lease, orders, recovery, order, all, over, firstCall, late);
    }

    Setup withOver(Duration most) {
        return new Setup(members, limit, lease, orders, recovery, order, extra, most, firstCall, late);
    }

    Setup withFirstCall(Duration within) {
        return new Setup(members, limit, lease, orders, recovery, order, extra, over, within, late);
    }

    Setup withLate(Duration most) {
        return new Setup(members, limit, lease, orders, recovery, order, extra, over, firstCall, most);
    }

    Rules rules() {
        return new Rules(limit, limit, recovery, orders.maxHoldMicros() == 0, order, late, over, firstCall);
    }

    /** The settings of the member of that number. */
    IntFunction<List<String>> settings(Store store) {
        return member -> {
            List<String> all = new ArrayList<>(store.settings(member));
            all.addAll(settings());
            if (all.stream()
                    .noneMatch(
                            option -> option.startsWith(LEASE))) { // the sessions of some stores have their own length
                all.add(LEASE + lease.toMillis() + "ms");
            }
            return all;
        };
    }

    private List<String> settings() {
        List<String> all = new ArrayList<>(List.of(
                "--harness.command-timeout=" + COMMAND_TIMEOUT.toMillis(),
                "--harness.tombstone=" + TOMBSTONE.toMillis(),
                "--distributed-permit.permits.load.limit=" + limit));
        all.addAll(extra);
        if (extra.stream().noneMatch(option -> option.startsWith(REDIS))) {
            all.add(REDIS + "new-server-grace=0s"); // servers are as young as the run
        }
        return all;
    }
}
