package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import org.junit.jupiter.api.Test;

/**
 * Stores without check-and-set: what comes late or twice meets the memory of the last sequence, also when its member has
 * returned everything.
 */
interface LateClaimLaws extends ContractTests {

    @Test
    default void doubledClaimDoesNotReviveARecordOfZero(String key, Peer a) {
        Claim taken = a.next(a.queueing(key, 1, 1));
        a.send(taken);
        a.keep(key, 1, 0);

        Holding answer = a.send(taken);

        assertThat(answer.permits()).isZero();
        assertThat(answer.sequence()).isEqualTo(a.sequence());
        assertThat(look(key).used()).isZero();
        assertThat(look(key).isQueued(a)).isFalse();
    }

    @Test
    default void lateTryDoesNotReviveARecordOfZero(String key, Peer a, Peer b) {
        b.queue(key, 1, 1);
        a.attempt(key, 1, 1);
        Claim late = a.next(a.queueing(key, 1, 1));
        a.keep(key, 1, 0);
        b.keep(key, 1, 0);

        a.send(late);

        assertThat(look(key).used()).isZero();
        assertThat(peer().attempt(key, 1, 1).permits()).isEqualTo(1);
    }

    @Test
    default void tombstoneOutlivesTheUseOfTheKeyByOthers(String key, Peer a, Peer b) {
        Claim taken = a.next(a.queueing(key, 2, 1));
        a.send(taken);
        a.keep(key, 2, 0);
        b.queue(key, 2, 1);
        b.keep(key, 2, 0);

        a.send(taken);

        assertThat(look(key).used()).isZero();
    }

    @Test
    default void sequenceIsNotForgottenWhenTheMemberUsesOtherKeys(String first, String second, Peer a) {
        Claim taken = a.next(a.queueing(first, 1, 1));
        a.send(taken);
        a.keep(first, 1, 0);
        a.queue(second, 1, 1);
        a.keep(second, 1, 0);

        assertThat(a.send(taken).permits()).isZero();
        assertThat(look(first).used()).isZero();
    }

    @Test
    default void memberComesBackToAKeyThatHasVanished(String key, Peer a) {
        a.queue(key, 1, 1);
        Holding last = a.keep(key, 1, 0);
        harness().fixture().passIdleTime();
        assertThat(look(key).rows()).isEmpty();

        Holding again = a.queue(key, 1, 1);

        assertThat(again.permits()).isEqualTo(1);
        assertThat(again.version()).as("versions never restart").isGreaterThan(last.version());
    }
}
