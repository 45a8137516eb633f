package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Stores without sessions: a holding lives by its lease on the store's own clock (law 5), and age orders the line. */
interface LeaseLaws extends ContractTests {

    private Duration brief() {
        return harness().fixture().shortLease();
    }

    /** Renews the lease of one permit for the last time, and briefly: a brief lease from the start might end too early. */
    private void dieSoon(Peer peer, String key, int limit) {
        peer.claim(peer.keeping(key, limit, 1).lease(brief()));
        harness().die(peer);
    }

    @Test
    default void lapsedHoldersPermitsGoToTheLineWithTheNextClaim(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        dieSoon(a, key, 1);

        c.attempt(key, 1, 1); // any claim removes expired members

        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).used()).isEqualTo(1);
        b.awaitNotices(key);
        c.awaitNotices();
    }

    @Test
    default void staleClaimCollectsTheDeadAsWell(String key, Peer a, Peer b) {
        a.queue(key, 1, 1);
        Claim waiting = b.next(b.queueing(key, 1, 1));
        b.send(waiting);
        dieSoon(a, key, 1);

        assertThat(b.send(waiting).permits()).isEqualTo(1);
        assertThat(look(key).used()).isEqualTo(1);
    }

    @Test
    default void lapsedMemberLearnsOfItsLossWhenItComesBack(String key, Peer a, Peer b) {
        a.claim(a.queueing(key, 2, 2).lease(brief()));
        harness().fixture().pass(brief().plusMillis(20));
        b.queue(key, 2, 2);

        Holding back = a.keep(key, 2, 2);

        assertThat(back.permits()).isZero();
        assertThat(back.sequence()).isEqualTo(a.sequence());
        assertThat(look(key).permits(b)).isEqualTo(2);
    }

    @Test
    default void lateReturnOfALapsedMemberFreesNothingOfOthers(String key, Peer a, Peer b) {
        a.claim(a.queueing(key, 1, 1).lease(brief()));
        harness().fixture().pass(brief().plusMillis(20));
        b.queue(key, 1, 1);

        a.keep(key, 1, 0);

        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(peer().attempt(key, 1, 1).permits()).isZero();
    }

    @Test
    default void claimRenewsTheLease(String key, Peer a) {
        Harness.patiently()
                .until(
                        () -> { // again if the brief lease ends before the second claim arrives
                            a.claim(a.queueing(key, 1, 1).lease(brief()));
                            return a.keep(key, 1, 1).permits() == 1; // with the long one
                        });
        harness().fixture().pass(brief().plusMillis(20));

        assertThat(peer().attempt(key, 1, 1).permits()).isZero();
        assertThat(look(key).permits(a)).isEqualTo(1);
    }

    @Test
    default void lapsedWaiterDoesNotHoldUpTheLine(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.claim(b.queueing(key, 1, 1).lease(brief()));
        c.queue(key, 1, 1);
        harness().die(b);

        a.keep(key, 1, 0);

        assertThat(look(key).permits(c)).isEqualTo(1);
        assertThat(look(key).row(b)).isEmpty();
    }

    @Test
    default void onlyTheHeadIsToldWhenToCollectTheDead(String key, Peer a, Peer b, Peer c) {
        Duration lease = Duration.ofSeconds(10);
        a.claim(a.queueing(key, 1, 1).lease(lease));

        Holding head = b.queue(key, 1, 1);
        Holding second = c.queue(key, 1, 1);

        assertThat(head.others().recheckAfter())
                .hasValueSatisfying(d -> assertThat(d).isPositive().isLessThanOrEqualTo(lease.plusMillis(2)));
        assertThat(second.others().recheckAfter()).isEmpty();
        dieSoon(a, key, 1);
        Claim recheck = b.queueing(key, 1, 1).waited(Duration.ofMinutes(1));
        assertThat(b.claim(recheck).permits()).isEqualTo(1);
    }

    @Test
    default void lapsedHoldersPermitsGoByTheWaitersOwnLimit(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 4, 1);
        b.queue(key, 4, 3);
        c.queue(key, 3, 1);
        dieSoon(a, key, 4);

        assertThat(b.keep(key, 4, 3).permits()).isEqualTo(3);
        assertThat(look(key).permits(c)).isZero();
    }

    @Test
    default void olderWaiterGoesFirstThoughItsMemberClaimsLater(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.claim(b.queueing(key, 1, 1).waited(Duration.ofSeconds(1)));
        c.claim(c.queueing(key, 1, 1).waited(Duration.ofSeconds(20)));

        a.keep(key, 1, 0);

        assertThat(look(key).permits(c)).isEqualTo(1);
        assertThat(look(key).permits(b)).isZero();
    }

    @Test
    default void memberInLineKeepsItsPlaceByStatingTheAgeOfItsWaiter(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        long arrived = harness().fixture().nanoTime();
        c.queue(key, 1, 1);

        // a re-check; its waiter is as old as it was
        Duration age =
                Duration.ofNanos(harness().fixture().nanoTime() - arrived).plusMinutes(1);
        b.claim(b.queueing(key, 1, 1).waited(age));
        a.keep(key, 1, 0);

        assertThat(look(key).permits(b)).isEqualTo(1);
    }
}
