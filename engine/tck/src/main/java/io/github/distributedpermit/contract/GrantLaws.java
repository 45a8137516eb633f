package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Grants and returns of a claim (laws 1 to 4). */
interface GrantLaws extends ContractTests {

    @Test
    default void grantsWhatIsWantedWhileTheLimitAllows(String key) {
        Holding holding = peer().queue(key, 3, 2);

        assertThat(holding.permits()).isEqualTo(2);
        assertThat(holding.limit()).isEqualTo(3);
        assertThat(holding.others().contended()).isFalse();
        assertThat(holding.others().over()).isFalse();
        assertThat(holding.others().recheckAfter()).isEmpty();
        assertThat(look(key).used()).isEqualTo(2);
    }

    @Test
    default void grantNeverLiftsTheSumAboveTheLimit(String key, Peer a, Peer b, Peer c) {
        assertThat(a.queue(key, 3, 2).permits()).isEqualTo(2);
        assertThat(b.queue(key, 3, 3).permits()).isEqualTo(1);
        assertThat(c.queue(key, 3, 1).permits()).isZero();

        assertThat(look(key).used()).isEqualTo(3);
        assertThat(look(key).isQueued(b)).isTrue();
        assertThat(look(key).isQueued(c)).isTrue();
    }

    @Test
    default void wantedBelowTheHoldingReturnsTheRestAtOnce(String key, Peer a) {
        a.queue(key, 3, 3);

        assertThat(a.keep(key, 3, 1).permits()).isEqualTo(1);
        assertThat(look(key).used()).isEqualTo(1);
        assertThat(peer().attempt(key, 3, 2).permits()).isEqualTo(2);
    }

    @Test
    default void returningEverythingLeavesNothingInUse(String key, Peer a) {
        a.queue(key, 2, 2);

        assertThat(a.keep(key, 2, 0).permits()).isZero();
        assertThat(look(key).used()).isZero();
        assertThat(look(key).permits(a)).isZero();
    }

    @Test
    default void repeatingAClaimWithANewSequenceChangesNothing(String key, Peer a, Peer b) {
        a.queue(key, 3, 2);
        b.queue(key, 3, 2);

        assertThat(a.queue(key, 3, 2).permits()).isEqualTo(2);
        assertThat(b.queue(key, 3, 2).permits()).isEqualTo(1);
        assertThat(look(key).used()).isEqualTo(3);
    }

    @Test
    default void nobodyElseCutsAHoldingBelowItsHeld(String key, Peer a, Peer b) {
        a.queue(key, 3, 3);

        harness().lowered(key);
        b.queue(key, 1, 1);
        b.attempt(key, 2, 1);
        b.override(key, 1);

        assertThat(look(key).permits(a)).isEqualTo(3);
        assertThat(a.keep(key, 3, 3).permits()).isEqualTo(3);
    }

    @Test
    default void heldBelowTheHoldingGivesBackToTheLineAndWantedStandsInIt(String key, Peer a, Peer b) {
        a.queue(key, 3, 3);
        b.queue(key, 3, 1);

        Holding left = a.claim(a.queueing(key, 3, 3).held(1));

        assertThat(left.permits()).isEqualTo(2); // 1 stays, 1 goes to the line, 1 is left over
        assertThat(look(key).permits(b)).isEqualTo(1);
        assertThat(look(key).isQueued(a)).isTrue();
    }

    @Test
    default void heldAboveTheHoldingGrantsNothing(String key, Peer a, Peer b) {
        a.queue(key, 2, 2);

        Holding holding = b.keep(key, 2, 2);

        assertThat(holding.permits()).isZero();
        assertThat(look(key).used()).isEqualTo(2);
    }

    @Test
    default void claimWithStaleSequenceChangesNothing(String key, Peer a) {
        Claim late = a.next(a.queueing(key, 3, 3));
        a.queue(key, 3, 1);

        Holding answer = a.send(late);

        assertThat(answer.permits()).isEqualTo(1);
        assertThat(answer.sequence()).isEqualTo(a.sequence());
        assertThat(look(key).used()).isEqualTo(1);
    }

    @Test
    default void lateReturnChangesNothing(String key, Peer a) {
        a.queue(key, 3, 2);
        Claim late = a.next(a.keeping(key, 3, 0));
        a.queue(key, 3, 2);

        a.send(late);

        assertThat(look(key).permits(a)).isEqualTo(2);
    }

    @Test
    default void doubledClaimIsOneClaim(String key, Peer a) {
        Claim claim = a.next(a.queueing(key, 3, 2));

        Holding first = a.send(claim);
        Holding second = a.send(claim);

        assertThat(second.permits()).isEqualTo(2);
        assertThat(second.sequence()).isEqualTo(first.sequence());
        assertThat(second.version()).isEqualTo(first.version());
        assertThat(look(key).used()).isEqualTo(2);
    }

    @Test
    default void versionGrowsWithEveryClaimOfAKey(String key, Peer a, Peer b) {
        long first = a.queue(key, 2, 1).version();
        long second = b.queue(key, 2, 1).version();
        long third = a.queue(key, 2, 1).version();

        assertThat(first).isPositive();
        assertThat(second).isGreaterThan(first);
        assertThat(third).isGreaterThan(second);
    }

    @Test
    default void grantsOfOneStepHaveVersionsOfTheirOwn(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        Claim first = b.next(b.queueing(key, 2, 1));
        Claim second = c.next(c.queueing(key, 2, 1));
        b.send(first);
        c.send(second);

        long freed = a.keep(key, 2, 0).version();

        // a claim that is late by now tells the version of the grant and makes none of its own
        assertThat(b.send(first).permits()).isEqualTo(1);
        assertThat(List.of(freed, b.send(first).version(), c.send(second).version()))
                .doesNotHaveDuplicates();
    }

    @Test
    default void lateCopyThatTravelsWithANewClaimGivesNothingBack(String key, Peer a, Peer b) {
        Claim returned = a.next(a.keeping(key, 1, 0));
        a.send(returned);
        a.queue(key, 1, 1);
        b.queue(key, 1, 1);
        Claim kept = a.next(a.keeping(key, 1, 1));
        Claim keptStill = a.next(a.keeping(key, 1, 1));

        Holding answer = a.sendTogether(kept, returned, keptStill);

        assertThat(answer.permits()).isEqualTo(1);
        assertThat(look(key).permits(b)).isZero();
        assertThat(look(key).isQueued(b)).isTrue();
    }
}
