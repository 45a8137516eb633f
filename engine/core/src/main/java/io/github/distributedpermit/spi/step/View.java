package io.github.distributedpermit.spi.step;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What the records of a key look like to a member, and to operators. */
final class View {

    private static final long RECHECK_SLACK_MICROS = 1_000;

    private View() {}

    /** The record as it is reported to its member. */
    static Holding of(Records records, PermitRecord r, long now) {
        int others = records.waiting() - (r.inLine() ? 1 : 0);
        int limit = records.limit(r);
        return new Holding(
                r.permits(),
                limit,
                r.sequence(),
                r.version(),
                others > 0,
                records.used() > limit,
                recheckAfter(records, r, now));
    }

    /** Only the head collects the dead: no herd. */
    private static Optional<Duration> recheckAfter(Records records, PermitRecord r, long now) {
        PermitRecord first = records.firstLease();
        if (first == null || !r.equals(records.head())) {
            return Optional.empty();
        }
        return Optional.of(Duration.of(first.expiry() - now + RECHECK_SLACK_MICROS, ChronoUnit.MICROS));
    }

    static KeyState state(Records records, String key) {
        List<MemberState> members = new ArrayList<>();
        records.all().stream()
                .filter(r -> !r.inLine() && !r.isIdle())
                .sorted(Comparator.comparing(PermitRecord::member))
                .forEach(r -> members.add(state(r)));
        records.queued().forEach(r -> members.add(state(r)));
        return new KeyState(key, records.used(), records.override(), members);
    }

    private static MemberState state(PermitRecord r) {
        return new MemberState(r.member(), r.permits(), r.wanted(), r.limit(), r.inLine());
    }
}
