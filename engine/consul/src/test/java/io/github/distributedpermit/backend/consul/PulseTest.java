package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Nothing is vouched for that not all sessions are good for. */
class PulseTest {

    private static final long START = -50; // the clock may begin anywhere

    private final Pulse pulse = new Pulse("main", START);

    @Test
    void memberIsAliveSinceItsOldestSessionIs() {
        pulse.made(pulse.asked(START + 10), "spare");
        pulse.renewed("main", START + 100);
        assertThat(pulse.oldest()).isEqualTo(START + 10);

        pulse.renewed("spare", START + 110);
        assertThat(pulse.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatMayBeMadeCountsSinceItWasAskedFor() {
        Object ticket = pulse.asked(START + 10);
        pulse.renewed("main", START + 100);
        assertThat(pulse.oldest()).isEqualTo(START + 10);
        assertThat(pulse.oldestConfirmed()).isEqualTo(START + 100);

        pulse.none(ticket);
        assertThat(pulse.oldest()).isEqualTo(START + 100);
    }

    @Test
    void sessionThatIsGoneCountsNoMoreAndALateConfirmationDoesNotBringItBack() {
        pulse.made(pulse.asked(START + 10), "spare");
        pulse.gone("spare");
        pulse.renewed("spare", START + 20);
        pulse.renewed("main", START + 100);
        assertThat(pulse.oldest()).isEqualTo(START + 100);
        assertThat(pulse.due(START + 200)).containsExactly("main");
    }

    @Test
    void confirmationThatComesLateTakesNothingBack() {
        pulse.renewed("main", START + 100);
        pulse.renewed("main", START + 50);
        assertThat(pulse.oldest()).isEqualTo(START + 100);
    }

    @Test
    void whatWasConfirmedOfLateIsNotDueAndWhatWasTriedLastComesLast() {
        pulse.made(pulse.asked(START + 10), "a");
        pulse.made(pulse.asked(START + 20), "b");
        pulse.made(pulse.asked(START + 100), "late");
        pulse.tried("main");
        pulse.tried("a");
        assertThat(pulse.due(START + 30)).containsExactly("b", "main", "a");
    }
}
