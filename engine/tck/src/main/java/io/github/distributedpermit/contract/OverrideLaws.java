package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import org.junit.jupiter.api.Test;

/** The operator's limit. */
interface OverrideLaws extends ContractTests {

    @Test
    default void raisedOverrideServesTheLineAtOnceAndTellsTheServed(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        c.queue(key, 1, 1);

        a.override(key, 2);

        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).permits(c)).isZero();
        b.awaitNotices(key);
        a.override(key, 3);
        c.awaitNotices(key);
        b.awaitNotices(key);
        assertThat(look(key).used()).isEqualTo(3);
    }

    @Test
    default void loweredOverrideEvictsNobodyAndAdmitsNobody(String key, Peer a, Peer b) {
        a.queue(key, 3, 3);
        b.queue(key, 3, 1);
        harness().lowered(key);

        b.override(key, 2);

        Holding holding = a.keep(key, 3, 2);
        assertThat(holding.permits()).isEqualTo(2);
        assertThat(holding.limit()).isEqualTo(2);
        assertThat(holding.others().over()).isFalse();
        assertThat(look(key).permits(b)).isZero();
        a.keep(key, 3, 1);
        assertThat(look(key).permits(b)).isEqualTo(1);
    }

    @Test
    default void overrideOfZeroPausesAndKeepsTheLine(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        harness().lowered(key);
        a.override(key, 0);

        assertThat(b.claim(b.queueing(key, 2, 2).queued(2)).limit()).isZero();
        assertThat(c.queue(key, 2, 1).permits()).isZero();
        a.keep(key, 2, 0);
        assertThat(look(key).used()).isZero();
        assertThat(look(key).isQueued(b)).isTrue();
        assertThat(look(key).isQueued(c)).isTrue();

        a.liftOverride(key);

        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isZero();
        b.awaitNotices(key);
    }

    @Test
    default void overrideWinsOverEveryMembersOwnLimit(String key, Peer a, Peer b) {
        a.override(key, 4);

        assertThat(a.queue(key, 1, 3).permits()).isEqualTo(3);
        Holding holding = b.queue(key, 9, 3);

        assertThat(holding.permits()).isEqualTo(1);
        assertThat(holding.limit()).isEqualTo(4);
    }

    @Test
    default void overrideOutlivesTheUseOfItsKey(String key, Peer a) {
        a.override(key, 2);
        a.queue(key, 1, 1);
        a.keep(key, 1, 0);
        harness().fixture().passIdleTime();

        assertThat(look(key).override()).isEqualTo(OverrideLimit.of(2));
        assertThat(a.inspect(key).override()).isEqualTo(OverrideLimit.of(2));
        assertThat(a.attempt(key, 1, 2).permits()).isEqualTo(2);
    }

    @Test
    default void termsOfAnOverrideAreKeptAndOnlyThatOneIsLifted(String key, Peer a, Peer b) {
        OverrideLimit first = OverrideLimit.of(0, "anna; \u00e4\u4e2d", "a \"reason\"\nof two lines")
                .during(1_764_000_000_000L, 1_764_000_600_000L);
        a.override(key, first);

        assertThat(b.inspect(key).override()).isEqualTo(first);
        assertThat(look(key).override()).isEqualTo(first);

        OverrideLimit second = OverrideLimit.of(0, "bert", "").during(1_764_000_001_000L, 0);
        b.override(key, second);
        a.lift(key, first);
        assertThat(b.inspect(key).override()).isEqualTo(second);
        b.queue(key, 1, 1);
        assertThat(look(key).permits(b)).isZero();

        a.lift(key, second);
        assertThat(a.inspect(key).override()).isEqualTo(OverrideLimit.empty());
        assertThat(look(key).permits(b)).isEqualTo(1);
        b.awaitNotices(key);
    }

    @Test
    default void negativeOverrideIsRefusedInTheCallersThreadAndChangesNothing(String key, Peer a) {
        a.override(key, 2);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> a.override(key, -1))
                .withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> a.override(key, Integer.MIN_VALUE));

        assertThat(a.inspect(key).override()).isEqualTo(OverrideLimit.of(2));
    }

    @Test
    default void liftedOverrideLeavesTheMembersOwnLimits(String key, Peer a) {
        a.override(key, 3);
        a.liftOverride(key);

        assertThat(a.queue(key, 1, 3).permits()).isEqualTo(1);
        assertThat(a.inspect(key).override().isEmpty()).isTrue();
    }
}
