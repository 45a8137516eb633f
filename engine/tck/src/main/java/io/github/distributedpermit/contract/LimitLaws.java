package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Holding;
import org.junit.jupiter.api.Test;

/** Members that go by different limits, and limits that change (laws 1 and 2). */
interface LimitLaws extends ContractTests {

    @Test
    default void waitersOwnLimitDecidesWhoeverFrees() {
        String key = key();
        Peer a = peer();
        Peer b = peer();
        a.queue(key, 5, 4);
        b.queue(key, 2, 1);

        a.keep(key, 5, 2);
        assertThat(look(key).permits(b)).isZero();
        assertThat(look(key).isQueued(b)).isTrue();

        a.keep(key, 5, 1);
        assertThat(look(key).permits(b)).isEqualTo(1);
    }

    @Test
    default void waiterWithAHigherLimitIsServedUpToIt() {
        String key = key();
        Peer a = peer();
        Peer b = peer();
        a.queue(key, 2, 2);
        b.queue(key, 2, 2);

        assertThat(b.queue(key, 4, 3).permits()).isEqualTo(2);
        assertThat(look(key).used()).isEqualTo(4);
    }

    @Test
    default void headWithALowerLimitIsNotPassed() {
        String key = key();
        Peer a = peer();
        Peer b = peer();
        Peer c = peer();
        a.queue(key, 3, 3);
        b.queue(key, 2, 1);
        c.queue(key, 3, 1);

        a.keep(key, 3, 2);

        assertThat(look(key).permits(b)).isZero();
        assertThat(look(key).permits(c)).isZero();
        a.keep(key, 3, 1);
        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    @Test
    default void loweredLimitEvictsNobodyAndAdmitsNobody() {
        String key = key();
        Peer a = peer();
        Peer b = peer();
        a.queue(key, 3, 3);
        harness().lowered(key);

        Holding lowered = a.keep(key, 1, 3);
        assertThat(lowered.permits()).isEqualTo(3);
        assertThat(lowered.over()).isTrue();
        assertThat(b.queue(key, 1, 1).permits()).isZero();
        assertThat(a.keep(key, 1, 2).over()).isTrue();
        assertThat(look(key).permits(b)).isZero();
        assertThat(a.keep(key, 1, 1).over()).isFalse();
        assertThat(look(key).permits(b)).isZero();
        a.keep(key, 1, 0);
        assertThat(look(key).permits(b)).isEqualTo(1);
    }

    @Test
    default void raisedLimitOfTheHeadServesItAtOnce() {
        String key = key();
        Peer a = peer();
        Peer b = peer();
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);

        assertThat(b.queue(key, 2, 1).permits()).isEqualTo(1);
    }
}
