package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Holding.Others;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What the records of a key look like to a member, and to operators.
 *
 * <p>Stateless. {@link KeyTable} uses it for the answer to a claim, for the notifications of served members, and for
 * inspections.
 */
final class View {

    /** A claim that arrives exactly at the expiry could be too early by the resolution of the clock. */
    private static final long RECHECK_SLACK_MICROS = 1_000;

    private View() {}

    /**
     * The record as it is reported to its member.
     *
     * @param grace {@code null} in a store that does not lose its state
     */
    static Holding of(Records records, @Nullable Grace grace, PermitRecord r, long now) {
        // The member itself is not counted: it need not give permits back to its own waiters.
        int others = records.waiting() - (r.isQueued() ? 1 : 0);
        int limit = records.limit(r);
        return new Holding(
                r.permits(),
                limit,
                r.sequence(),
                r.version(),
                grace == null ? 0 : grace.epoch(),
                new Others(
                        others > 0,
                        records.used() > limit,
                        grace != null && grace.withholds(limit),
                        recheckAfter(records, grace, r, now)));
    }

    /**
     * When the member claims again to find out whether a lease or the grace has ended, which serves the queue. Only the head of the
     * queue gets a time: if all who wait claimed at the same moment, one of them could be served and the claims of the others would
     * achieve nothing.
     */
    private static Optional<Duration> recheckAfter(Records records, @Nullable Grace grace, PermitRecord r, long now) {
        PermitRecord first = records.firstLease();
        Grace active = grace != null && grace.isActive() ? grace : null;
        if ((first == null && active == null) || !r.equals(records.head())) {
            return Optional.empty();
        }
        long end = Math.min(
                first == null ? Long.MAX_VALUE : first.expiry(), active == null ? Long.MAX_VALUE : active.end());
        return Optional.of(Duration.of(end - now + RECHECK_SLACK_MICROS, ChronoUnit.MICROS));
    }

    /** @param now the clock of the store in microseconds; empty where records have no times */
    static KeyState state(Records records, String key, OptionalLong now) {
        List<MemberState> members = new ArrayList<>();
        records.all().stream()
                // Tombstones are left out: their members neither hold nor wait.
                .filter(r -> !r.isQueued() && !r.isIdle())
                .sorted(Comparator.comparing(PermitRecord::member))
                .forEach(r -> members.add(state(r, now)));
        records.queued().forEach(r -> members.add(state(r, now)));
        return new KeyState(key, records.used(), records.override(), members);
    }

    private static MemberState state(PermitRecord r, OptionalLong now) {
        return new MemberState(
                r.member(),
                Optional.empty(),
                r.permits(),
                r.wanted(),
                r.limit(),
                r.isQueued(),
                r.calls(),
                now.isPresent() && r.since().isPresent()
                        ? Optional.of(micros(now.getAsLong() - r.since().getAsLong()))
                        : Optional.empty(),
                now.isPresent() && r.expiry() != PermitRecord.NEVER
                        ? Optional.of(micros(r.expiry() - now.getAsLong()))
                        : Optional.empty());
    }

    /** An expired record that has not been removed yet is shown with 0 and not with a negative time. */
    private static Duration micros(long micros) {
        return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
    }
}
