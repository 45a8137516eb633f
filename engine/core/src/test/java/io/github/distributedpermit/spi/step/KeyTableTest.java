package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the contract of the backends cannot see: tombstones, versions, endless leases, and what a step reports. */
class KeyTableTest {

    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final Duration TOMBSTONE = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000;

    private final KeyTable table = KeyTable.leased(TOMBSTONE);
    private long now = 1;
    private long sequence;

    @Test
    void recordOfZeroIsKeptAsATombstoneAndThenForgotten() {
        Claim taken = claim(1, 1, 1, LEASE);
        step("a", taken);
        step("a", claim(1, 0, 0, LEASE));

        now += 29 * SECOND;
        assertThat(step("a", taken).isUnchanged()).isTrue();
        assertThat(table.isEmpty()).isFalse();

        now += 2 * SECOND;
        assertThat(table.refresh(now).removed()).containsExactly("a");
        assertThat(table.isEmpty()).isTrue();
    }

    @Test
    void staleClaimDoesNotRenewATombstone() {
        Claim taken = claim(1, 1, 1, LEASE);
        step("a", taken);
        step("a", claim(1, 0, 0, LEASE));
        now += 20 * SECOND;
        step("a", taken);

        now += 11 * SECOND;

        assertThat(table.refresh(now).removed()).containsExactly("a");
    }

    @Test
    void oneOperationDropsABoundedNumberOfTombstones() {
        for (int i = 0; i < 100; i++) {
            step("m" + i, claim(1, 1, 1, LEASE));
            step("m" + i, claim(1, 0, 0, LEASE));
        }
        now += 31 * SECOND;

        assertThat(table.refresh(now).removed()).hasSizeBetween(1, 50);
        for (int i = 0; i < 20; i++) {
            table.refresh(now);
        }
        assertThat(table.isEmpty()).isTrue();
    }

    @Test
    void everyLapsedLeaseIsCollectedAtOnce() {
        for (int i = 0; i < 100; i++) {
            step("m" + i, claim(100, 1, 1, LEASE));
        }
        step("b", claim(100, 100, 1, Duration.ofHours(1)));
        now += 16 * SECOND;

        Step step = table.refresh(now);

        assertThat(step.removed()).hasSize(100);
        assertThat(step.served()).containsOnlyKeys("b");
        assertThat(table.used()).isEqualTo(100);
    }

    @Test
    void endlessLeaseNeverLapses() {
        step("a", claim(1, 1, 1, Duration.ofSeconds(Long.MAX_VALUE)));
        now = Long.MAX_VALUE - SECOND;

        assertThat(table.refresh(now).isUnchanged()).isTrue();
        assertThat(table.used()).isEqualTo(1);
    }

    @Test
    void versionsOfAKeyAreUniqueAndNeverBelowTheClock() {
        step("a", claim(2, 2, 1, LEASE));
        step("b", claim(2, 1, 1, LEASE));
        step("c", claim(2, 1, 1, LEASE));
        long before = table.version();

        Step step = step("a", claim(2, 0, 0, LEASE)); // at the same time, three records change

        assertThat(step.written().stream().map(PermitRecord::version)).doesNotHaveDuplicates();
        assertThat(step.written()).hasSize(3).allMatch(r -> r.version() > before);
        now += SECOND;
        assertThat(answer(step("b", claim(2, 1, 0, LEASE))).version()).isEqualTo(now);
    }

    @Test
    void answerCarriesTheSequenceOfTheRecordNotOfTheRequest() {
        Claim late = claim(3, 3, 1, LEASE);
        step("a", claim(3, 1, 1, LEASE));

        Holding answer = answer(step("a", late));

        assertThat(answer.sequence()).isEqualTo(2);
        assertThat(answer.permits()).isEqualTo(1);
    }

    @Test
    void memberServedInPartIsNotMovedToTheTail() {
        step("a", claim(2, 2, 1, LEASE));
        step("b", claim(2, 2, 1, LEASE));
        step("c", claim(2, 2, 1, LEASE));

        assertThat(step("a", claim(2, 1, 0, LEASE)).served()).containsOnlyKeys("b");
        assertThat(step("a", claim(2, 0, 0, LEASE)).served()).containsOnlyKeys("b");
        assertThat(table.view("b", now).orElseThrow().permits()).isEqualTo(2);
    }

    @Test
    void stepNamesWhatChangedAndNothingElse() {
        step("a", claim(3, 1, 1, LEASE));
        step("b", claim(3, 1, 1, LEASE));

        Step step = step("a", claim(3, 2, 1, LEASE));

        assertThat(step.written()).extracting(PermitRecord::member).containsExactly("a");
        assertThat(step.removed()).isEmpty();
        assertThat(step.served()).isEmpty();
    }

    @Test
    void negativeOverrideIsRefusedAndChangesNothing() {
        assertThatThrownBy(() -> table.override(OverrideLimit.of(-1), now))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(table.override()).isEqualTo(OverrideLimit.empty());
    }

    @Test
    void passingOverAHeavyHeadIsNotServingIt() {
        step("a", claim(3, 3, 1, LEASE));
        step("heavy", claim(3, 3, 3, LEASE));
        step("c", claim(3, 1, 1, LEASE));
        table.override(OverrideLimit.of(2), now);

        Step step = step("a", claim(3, 0, 0, LEASE));

        assertThat(step.served()).containsOnlyKeys("c");
        assertThat(table.state("k").members()).anyMatch(m -> m.member().equals("heavy") && m.waiting());
    }

    private Claim claim(int limit, int wanted, int unit, Duration lease) {
        sequence++;
        return Claim.of("k", sequence, lease).limit(limit).wanted(wanted).queued(unit);
    }

    /** Each arrival is later than the one before, at one and the same time. */
    private Step step(String member, Claim claim) {
        return table.claim(member, claim, now, sequence);
    }

    private static Holding answer(Step step) {
        return step.answer().orElseThrow();
    }
}
