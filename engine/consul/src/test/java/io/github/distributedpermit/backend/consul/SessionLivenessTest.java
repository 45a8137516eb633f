package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Nothing is vouched for that not all sessions are good for. */
class SessionLivenessTest {

    private static final long START = -50; // the clock may begin anywhere

    private final SessionLiveness liveness = new SessionLiveness("main", START);

    @Test
    void memberIsAliveSinceItsOldestSessionIs() {
        liveness.made(liveness.asked(START + 10), "spare");
        liveness.renewed("main", START + 100);
        assertThat(liveness.oldest()).isEqualTo(START + 10);

        liveness.renewed("spare", START + 110);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatMayBeMadeCountsSinceItWasAskedFor() {
        Object ticket = liveness.asked(START + 10);
        liveness.renewed("main", START + 100);
        assertThat(liveness.oldest()).isEqualTo(START + 10);
        assertThat(liveness.oldestConfirmed()).isEqualTo(START + 100);

        liveness.none(ticket);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatIsGoneCountsNoMoreAndALateConfirmationDoesNotBringItBack() {
        liveness.made(liveness.asked(START + 10), "spare");
        liveness.gone("spare");
        liveness.renewed("spare", START + 20);
        liveness.renewed("main", START + 100);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
        assertThat(liveness.due(START + 200)).containsExactly("main");
    }

    @Test
    void confirmationThatComesLateTakesNothingBack() {
        liveness.renewed("main", START + 100);
        liveness.renewed("main", START + 50);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
    }

    @Test
    void whatWasConfirmedOfLateIsNotDueAndWhatWasTriedLastComesLast() {
        liveness.made(liveness.asked(START + 10), "a");
        liveness.made(liveness.asked(START + 20), "b");
        liveness.made(liveness.asked(START + 100), "late");
        liveness.tried("main");
        liveness.tried("a");
        assertThat(liveness.due(START + 30)).containsExactly("b", "main", "a");
    }
}
