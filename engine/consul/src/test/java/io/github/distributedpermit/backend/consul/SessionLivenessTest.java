package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Nothing is vouched for that not all sessions are good for. */
class SessionLivenessTest {

    private static final long START = -50; // the clock may begin anywhere

    private final SessionLiveness liveness = new SessionLiveness("main", START);

    private void make(String session, long sent) {
        liveness.asked(session, sent);
        liveness.made(session, session);
    }

    @Test
    void memberIsAliveSinceItsOldestSessionIs() {
        make("spare", START + 10);
        liveness.renewed("main", START + 100);
        assertThat(liveness.oldest()).isEqualTo(START + 10);

        liveness.renewed("spare", START + 110);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatMayBeMadeCountsSinceItWasAskedFor() {
        String ticket = "spare";
        liveness.asked(ticket, START + 10);
        liveness.renewed("main", START + 100);
        assertThat(liveness.oldest()).isEqualTo(START + 10);
        assertThat(liveness.oldestConfirmed()).isEqualTo(START + 100);

        liveness.none(ticket);
        assertThat(liveness.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatIsGoneCountsNoMoreAndALateConfirmationDoesNotBringItBack() {
        make("spare", START + 10);
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
        make("a", START + 10);
        make("b", START + 20);
        make("late", START + 100);
        liveness.tried("main");
        liveness.tried("a");
        assertThat(liveness.due(START + 30)).containsExactly("b", "main", "a");
    }
}
