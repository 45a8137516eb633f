package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Who waits, who is served, who is notified (laws 6 and 7). */
interface QueueLaws extends ContractTests {

    @Test
    default void freedPermitServesTheHeadInTheSameStepAndTellsNobodyElse(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 1);
        c.queue(key, 2, 1);

        a.keep(key, 2, 1);

        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).isQueued(b)).isFalse();
        assertThat(look(key).permits(c)).isZero();
        b.awaitNotices(key);

        a.keep(key, 2, 0);

        c.awaitNotices(key); // had it been told before, it would be twice
        b.awaitNotices(key);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    /** The waiting members make no claims, so only a notification of a grant that was taken back could say more. */
    @Test
    default void notificationIsSentOnlyForAGrantThatStands(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 3, 3);
        b.queue(key, 3, 2);
        c.queue(key, 3, 1);

        a.keep(key, 3, 2);
        b.awaitNotices(key);
        assertThat(b.granted()).allMatch(permits -> permits <= look(key).permits(b));
        a.keep(key, 3, 1);
        b.awaitNotices(key, key);
        assertThat(b.granted()).allMatch(permits -> permits <= look(key).permits(b));
        a.keep(key, 3, 0);
        c.awaitNotices(key);
        assertThat(b.granted()).allMatch(permits -> permits <= look(key).permits(b));
        assertThat(c.granted()).allMatch(permits -> permits <= look(key).permits(c));
        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    /** Which of the two claims the store executes first is chance; the one that comes second must see the other. */
    @Test
    default void memberThatLeavesTheQueueWhileAPermitIsReturnedGetsNoneThatTheStoreDoesNotHave(
            String key, Peer a, Peer b) {
        for (int round = 0; round < 30; round++) {
            a.queue(key, 2, 1);
            b.queue(key, 2, 1);
            b.queue(key, 2, 2);

            a.begin(a.next(a.keeping(key, 2, 0)));
            b.keep(key, 2, 1);
            a.keep(key, 2, 0);

            String later = key();
            a.queue(later, 1, 1);
            b.queue(later, 1, 1);
            a.keep(later, 1, 0);
            b.awaitAnyNotice(later); // it has received all notices of the first key by then
            assertThat(b.permits(key)).as("round %d", round).isEqualTo(1);
            assertThat(look(key).permits(b)).isEqualTo(1);
            b.keep(later, 1, 0);
        }
    }

    @Test
    default void servedMemberFindsItsGrantByClaimingAgain(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);
        Holding waiting = b.queue(key, 1, 1);
        a.keep(key, 1, 0);

        Holding holding = b.keep(key, 1, 1);

        assertThat(holding.permits()).isEqualTo(1);
        assertThat(holding.version()).isGreaterThan(waiting.version());
    }

    @Test
    default void severalAreServedAtOnceInTheOrderTheyCame(String key, Peer a, Peer b, Peer c, Peer d) {
        a.queue(key, 3, 3);
        b.queue(key, 3, 2);
        c.queue(key, 3, 1);
        d.queue(key, 3, 1);

        a.keep(key, 3, 0);

        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isEqualTo(1);
        assertThat(look(key).permits(d)).isZero();
        b.awaitNotices(key);
        c.awaitNotices(key);
    }

    /** With a head start a waiter may seem older than the store, its records and all members. */
    @Test
    default void waiterThatSeemsOlderThanTheStoreIsServedAsAnyOther(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        c.claim(c.queueing(key, 1, 1).waited(Duration.ofHours(1)));

        a.keep(key, 1, 0);
        int ofB = look(key).permits(b);
        assertThat(ofB + look(key).permits(c)).isEqualTo(1);
        (ofB == 1 ? b : c).keep(key, 1, 0);

        assertThat(look(key).permits(ofB == 1 ? c : b)).isEqualTo(1);
    }

    @Test
    default void newcomerGetsOnlyWhatThoseBeforeItLeave(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 3, 2);
        b.claim(b.queueing(key, 3, 2).queued(2)); // one is free, but it needs two

        assertThat(c.queue(key, 3, 1).permits()).isZero();

        a.keep(key, 3, 0);
        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    @Test
    default void tryTakesOnlyWhatTheLineLeaves(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 3, 2);
        b.claim(b.queueing(key, 3, 2).queued(2));

        assertThat(c.attempt(key, 3, 1).permits()).isZero();

        b.keep(key, 3, 0);
        assertThat(c.attempt(key, 3, 1).permits()).isEqualTo(1);
    }

    @Test
    default void refusedTryDoesNotStandInLine(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);

        assertThat(b.attempt(key, 1, 1).permits()).isZero();
        assertThat(look(key).isQueued(b)).isFalse();

        Holding renewed = a.keep(key, 1, 1);
        assertThat(renewed.others().contended()).isFalse();
        a.keep(key, 1, 0);
        assertThat(look(key).used()).isZero();
    }

    @Test
    default void memberThatNoLongerWantsMoreLeavesTheLineAndTheNextIsServed(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 3, 2);
        b.claim(b.queueing(key, 3, 2).queued(2));
        c.queue(key, 3, 1);

        b.keep(key, 3, 0);

        assertThat(look(key).isQueued(b)).isFalse();
        assertThat(look(key).permits(c)).isEqualTo(1);
        c.awaitNotices(key);
        a.keep(key, 3, 0);
        assertThat(look(key).permits(b)).isZero();
        b.awaitNotices();
    }

    @Test
    default void memberServedInPartKeepsItsPlaceUntilItsNextClaim(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 2);
        c.queue(key, 2, 1);

        a.keep(key, 2, 1);
        assertThat(look(key).permits(b)).isEqualTo(1);
        a.keep(key, 2, 0);

        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isZero();
    }

    @Test
    default void memberServedInPartStandsBehindOnceItsOldestWaiterIsYounger(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 2);
        c.queue(key, 2, 1);
        a.keep(key, 2, 1);

        b.queue(key, 2, 2); // its first waiter has its permit, the next came only now
        a.keep(key, 2, 0);

        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    @Test
    default void doubledClaimDoesNotPutAServedMemberBackInLine(String key, Peer a, Peer b) {
        a.queue(key, 2, 2);
        Claim waiting = b.next(b.queueing(key, 2, 2));
        b.send(waiting);
        Peer c = peer();
        c.queue(key, 2, 1);
        a.keep(key, 2, 1);

        b.send(waiting); // would it count, its waiter would be younger than the one of c

        a.keep(key, 2, 0);
        assertThat(look(key).permits(b)).isEqualTo(2);
        assertThat(look(key).permits(c)).isZero();
    }

    @Test
    default void contendedSaysThatAnotherMemberIsInLine(String key, Peer a, Peer b) {
        assertThat(a.queue(key, 1, 1).others().contended()).isFalse();

        assertThat(b.queue(key, 1, 1).others().contended()).isFalse(); // it is itself the only one
        assertThat(a.keep(key, 1, 1).others().contended()).isTrue();
    }

    @Test
    default void claimerThatServesItselfIsAnsweredNotTold(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        b.keep(key, 1, 0);
        a.keep(key, 1, 0);
        b.queue(key, 1, 1);
        a.queue(key, 1, 1);

        b.keep(key, 1, 0); // tells a, once

        a.awaitNotices(key);
        b.awaitNotices();
    }
}
