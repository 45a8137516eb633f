package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.autoconfigure.StubCall;
import io.github.distributedpermit.endpoint.PermitsView.Event;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is kept of the events, and how much. */
class PermitEventsTest {

    private static final Instant NOW = Instant.parse("2026-11-23T01:31:40.007Z");

    private final PermitEvents events = new PermitEvents(Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void newestIsFirstAndAHundredAreKept() {
        for (int i = 0; i < 150; i++) {
            events.limitSet(
                    "key-" + i,
                    OverrideLimit.of(i, "by anna through one", "deploy").during(1, 2));
        }
        List<Event> latest = events.latest();
        assertThat(latest).hasSize(PermitEvents.MOST);
        assertThat(latest.get(0))
                .isEqualTo(new Event(
                        NOW,
                        "limit",
                        "key-149",
                        "Limit 149 until 1970-01-01T00:00:00.002Z, set by anna through one: deploy",
                        1));
        assertThat(latest.get(99).key()).isEqualTo("key-50");
    }

    @Test
    void aLimitThatDoesNotEndByItselfSaysSo() {
        events.limitSet("a", OverrideLimit.of(1, "by anna through one", "trial"));
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly("Limit 1 until it is lifted, set by anna through one: trial");
    }

    @Test
    void lossesOfAKeyOneAfterAnotherAreOneEvent() {
        events.limitSet("a", OverrideLimit.empty());
        for (int i = 0; i < 500; i++) {
            events.lost(new StubCall("a", 1));
        }
        events.lost(new StubCall("b", 1));
        assertThat(events.latest()).extracting(Event::kind).containsExactly("loss", "loss", "limit");
        assertThat(events.latest()).extracting(Event::count).containsExactly(1, 500, 1);
    }

    @Test
    void aMemberThatIsNotAliveAnyMoreIsOneEvent() {
        for (int i = 0; i < 150; i++) {
            events.expired("key-" + i, new Expired("m1", Optional.empty(), 1, Optional.empty(), 0, 0));
        }
        assertThat(events.latest()).singleElement().satisfies(event -> {
            assertThat(event.text()).isEqualTo("Member m1 is not alive any more; it had permits of 150 keys");
            assertThat(event.key()).isEmpty();
            assertThat(event.count()).isEqualTo(150);
        });
    }

    @Test
    void membersThatAreNotAliveAnyMoreAreAnEventEach() {
        events.expired("a", new Expired("m1", Optional.of("orders@host-2:4711"), 3, Optional.of(Duration.ZERO), 0, 0));
        events.expired("b", new Expired("m1", Optional.empty(), 1, Optional.empty(), 2, 5));
        assertThat(events.latest()).extracting(Event::kind).containsExactly("expiry", "expiry");
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "Member m1 is not alive any more; it had 1 permit(s), and 2 others had 5",
                        "Member orders@host-2:4711 is not alive any more; it had 3 permit(s)");
    }

    @Test
    void beginAndEndOfAnOutageAreEvents() {
        events.storeSilent();
        events.storeAnswers(Duration.ofSeconds(7));
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "The store answers this instance again after 7000 ms",
                        "The store does not answer this instance");
    }

    @Test
    void slowStoreAndDifferentLimitsAreEvents() {
        events.storeSlow(Duration.ofMillis(640));
        events.limitsDiffer("a", "6 by one; 12 by two");
        events.storeQuick(Duration.ofSeconds(70));
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "The store answers this instance quickly again; it was slow for 70000 ms",
                        "Instances state different limits: 6 by one; 12 by two",
                        "The store answers this instance slowly: after 640 ms on average");
        assertThat(events.latest()).extracting(Event::key).containsExactly("", "a", "");
    }
}
