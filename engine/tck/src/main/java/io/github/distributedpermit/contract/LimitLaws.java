package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Members that go by different limits, and limits that change (laws 1 and 2). */
interface LimitLaws extends ContractTests {

    @Test
    default void waitersOwnLimitDecidesWhoeverFrees(String key, Peer a, Peer b) {
        a.queue(key, 5, 4);
        b.queue(key, 2, 1);

        a.keep(key, 5, 2);
        assertThat(look(key).permits(b)).isZero();
        assertThat(look(key).isQueued(b)).isTrue();

        a.keep(key, 5, 1);
        assertThat(look(key).permits(b)).isEqualTo(1);
    }

    @Test
    default void waiterWithAHigherLimitIsServedUpToIt(String key, Peer a, Peer b) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 2);

        assertThat(b.queue(key, 4, 3).permits()).isEqualTo(2);
        assertThat(look(key).used()).isEqualTo(4);
    }

    /** As in a rolling update that raises the limit. */
    @Test
    default void headThatItsOwnLowerLimitKeepsOutDoesNotBlockOthers(String key, Peer old, Peer waiting, Peer next) {
        old.queue(key, 1, 1);
        waiting.queue(key, 1, 1);

        assertThat(next.queue(key, 3, 1).permits()).isEqualTo(1);
        assertThat(next.attempt(key, 3, 2).permits()).isEqualTo(2);

        assertThat(look(key).used()).isEqualTo(3);
        assertThat(look(key).isQueued(waiting)).isTrue();
    }

    @Test
    default void permitThatIsFreedPassesAHeadWithALowerLimit(String key, Peer a, Peer low, Peer high, Peer same) {
        a.queue(key, 3, 3);
        low.queue(key, 2, 1);
        high.queue(key, 3, 1);
        same.queue(key, 2, 1);

        a.keep(key, 3, 2);

        assertThat(look(key).permits(high)).isEqualTo(1);
        high.awaitNotices(key);
        assertThat(look(key).permits(low)).isZero();
        a.keep(key, 3, 0);
        assertThat(look(key).permits(low)).isEqualTo(1); // it has kept its place
        assertThat(look(key).permits(same)).isZero();
    }

    /** It needs more than is free under the limit of those behind it, so that its own limit is not the reason. */
    @Test
    default void headThatNeedsSeveralPermitsIsNotPassedByAHigherLimitThatItWouldNotFitEither(
            String key, Peer a, Peer heavy, Peer light) {
        a.queue(key, 4, 3);
        heavy.claim(heavy.queueing(key, 3, 3).queued(3));

        assertThat(light.queue(key, 4, 1).permits()).isZero();
        assertThat(light.attempt(key, 4, 1).permits()).isZero();

        light.queue(key, 4, 1);
        a.keep(key, 4, 1);
        assertThat(look(key).permits(light))
                .isEqualTo(1); // three would be free under its limit, and not under that of the head
        light.keep(key, 4, 0);
        a.keep(key, 4, 0);
        assertThat(look(key).permits(heavy)).isEqualTo(3);
    }

    @Test
    default void tryPassesThoseThatTheirOwnLimitsKeepOutIfAllOfThemWouldFitUnderItsLimit(
            String key, Peer a, Peer low, Peer heavy, Peer high) {
        a.queue(key, 5, 4);
        low.queue(key, 2, 1);
        heavy.claim(heavy.queueing(key, 2, 2).queued(2));

        assertThat(high.attempt(key, 5, 1).permits()).isZero();
        a.keep(key, 5, 3);
        assertThat(high.attempt(key, 5, 1).permits()).isEqualTo(1);
        assertThat(look(key).isQueued(low)).isTrue();
        assertThat(look(key).isQueued(heavy)).isTrue();
    }

    @Test
    default void oneStepServesAHeadAndOneBehindItWithAHigherLimit(String key, Peer a, Peer low, Peer high) {
        a.queue(key, 4, 4);
        low.queue(key, 2, 1);
        high.queue(key, 4, 2);

        a.keep(key, 4, 1);

        assertThat(look(key).permits(low)).isEqualTo(1);
        assertThat(look(key).permits(high)).isEqualTo(2);
        assertThat(look(key).used()).isEqualTo(4);
    }

    @Test
    default void memberServesItselfAndOneBehindItWithAHigherLimit(String key, Peer a, Peer low, Peer high) {
        a.queue(key, 4, 3);
        low.claim(low.queueing(key, 3, 3).queued(3));
        a.keep(key, 4, 2); // so that stores which order by their changes know which of the two came first
        high.queue(key, 4, 1);

        // its waiter for three has left, and the next one, which came before that of the other member, needs one
        Holding own = low.claim(low.queueing(key, 3, 1).waited(Duration.ofMinutes(1)));

        assertThat(own.permits()).isEqualTo(1);
        assertThat(look(key).permits(low)).isEqualTo(1);
        assertThat(look(key).permits(high)).isEqualTo(1);
        high.awaitNotices(key);
    }

    @Test
    default void overrideAppliesToAllSoThatTheHeadIsNotPassed(String key, Peer a, Peer low, Peer high) {
        a.queue(key, 2, 2);
        low.queue(key, 1, 1);
        a.override(key, 2);
        high.queue(key, 5, 1);

        a.keep(key, 2, 1);

        assertThat(look(key).permits(low)).isEqualTo(1);
        assertThat(look(key).permits(high)).isZero();
    }

    @Test
    default void loweredLimitEvictsNobodyAndAdmitsNobody(String key, Peer a, Peer b) {
        a.queue(key, 3, 3);
        harness().lowered(key);

        Holding lowered = a.keep(key, 1, 3);
        assertThat(lowered.permits()).isEqualTo(3);
        assertThat(lowered.others().over()).isTrue();
        assertThat(b.queue(key, 1, 1).permits()).isZero();
        assertThat(a.keep(key, 1, 2).others().over()).isTrue();
        assertThat(look(key).permits(b)).isZero();
        assertThat(a.keep(key, 1, 1).others().over()).isFalse();
        assertThat(look(key).permits(b)).isZero();
        a.keep(key, 1, 0);
        assertThat(look(key).permits(b)).isEqualTo(1);
    }

    @Test
    default void raisedLimitOfTheHeadServesItAtOnce(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);

        assertThat(b.queue(key, 2, 1).permits()).isEqualTo(1);
    }
}
