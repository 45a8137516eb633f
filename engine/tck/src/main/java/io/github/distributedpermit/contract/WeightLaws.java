package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import org.junit.jupiter.api.Test;

/** Requests of more than one permit. */
interface WeightLaws extends ContractTests {

    @Test
    default void heavyRequestIsGrantedWholeOrNotAtAll(String key, Peer a, Peer b) {
        a.queue(key, 4, 2);

        assertThat(b.claim(b.queueing(key, 4, 3).queued(3)).permits()).isZero();
        a.keep(key, 4, 1);
        assertThat(look(key).permits(b)).isEqualTo(3);
    }

    @Test
    default void heavyRequestCountsOnTopOfWhatTheMemberHolds(String key, Peer a, Peer b) {
        a.queue(key, 4, 2);
        b.queue(key, 4, 1);

        assertThat(b.claim(b.queueing(key, 4, 3).queued(2)).permits()).isEqualTo(1);
        a.keep(key, 4, 1);
        assertThat(look(key).permits(b)).isEqualTo(3);
    }

    @Test
    default void heavyTryIsGrantedWholeOrNotAtAll(String key, Peer a, Peer b) {
        a.queue(key, 4, 2);

        Claim three = b.keeping(key, 4, 3).tried(3);
        assertThat(b.claim(three).permits()).isZero();
        a.keep(key, 4, 1);
        assertThat(look(key).permits(b)).isZero();
        assertThat(b.claim(three).permits()).isEqualTo(3);
    }

    @Test
    default void lightRequestBehindAHeavyHeadWaits(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 3, 3);
        b.claim(b.queueing(key, 3, 3).queued(3));
        c.queue(key, 3, 1);

        a.keep(key, 3, 1);
        assertThat(look(key).used()).isEqualTo(1);
        a.keep(key, 3, 0);
        assertThat(look(key).permits(b)).isEqualTo(3);
        b.keep(key, 3, 0);
        assertThat(look(key).permits(c)).isEqualTo(1);
    }

    @Test
    default void headThatCanNeverFitIsPassedOverAndKeepsItsPlace(String key, Peer a, Peer b, Peer c, Peer d) {
        a.queue(key, 3, 3);
        b.claim(b.queueing(key, 3, 3).queued(3));
        c.queue(key, 3, 1);
        harness().lowered(key);
        a.override(key, 2);

        a.keep(key, 3, 1);
        assertThat(look(key).permits(c)).isEqualTo(1);
        assertThat(look(key).isQueued(b)).isTrue();

        a.liftOverride(key);
        d.queue(key, 3, 1);
        a.keep(key, 3, 0);
        c.keep(key, 3, 0);
        assertThat(look(key).permits(b)).isEqualTo(3);
        assertThat(look(key).permits(d)).isZero();
    }

    @Test
    default void twoHalvesOfHeavyRequestsDoNotDeadlock(String key, Peer a, Peer b, Peer c) {
        c.queue(key, 4, 4);
        a.claim(a.queueing(key, 4, 3).queued(3));
        b.claim(b.queueing(key, 4, 3).queued(3));

        c.keep(key, 4, 2);
        assertThat(look(key).used()).isEqualTo(2); // no member keeps half of what it needs
        c.keep(key, 4, 0);
        assertThat(look(key).permits(a)).isEqualTo(3);
        assertThat(look(key).permits(b)).isZero();
        a.keep(key, 4, 0);
        assertThat(look(key).permits(b)).isEqualTo(3);
    }
}
