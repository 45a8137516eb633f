package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.autoconfigure.StubCall;
import io.github.distributedpermit.endpoint.PermitsView.Event;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is kept of the events, and how much. */
class PermitEventsTest {

    private static final Instant NOW = Instant.parse("2026-11-23T01:31:40.007Z");

    private Instant now = NOW;
    private final PermitEvents events = new PermitEvents(new Clock() {
        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    });

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

    /** A lease that ends with calls of many keys, or a store that comes and goes. */
    @Test
    void incidentDoesNotDisplaceTheOrdersOfOperatorsNorTheyTheIncident() {
        events.limitSet("a", OverrideLimit.of(0, "by anna through one", "trial"));
        for (int i = 0; i < 150; i++) {
            events.lost(new StubCall("key-" + i, 1));
            events.storeSilent();
            events.storeAnswers(Duration.ofSeconds(7));
        }
        assertThat(events.latest())
                .hasSize(PermitEvents.MOST)
                .extracting(Event::kind)
                .contains("limit");
        for (int i = 0; i < 150; i++) {
            events.limitSet("b", OverrideLimit.empty());
        }
        List<Event> latest = events.latest();
        assertThat(latest).hasSize(PermitEvents.MOST);
        assertThat(latest.stream().filter(event -> !event.kind().equals("limit")))
                .hasSize(PermitEvents.MOST / 2)
                .first()
                .satisfies(event -> assertThat(event.text()).contains("answers this instance again"));
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
    void aMemberThatIsNotAliveAnyMoreIsOneEventWithItsPermits() {
        Optional<String> name = Optional.of("orders-2");
        events.expired("partner-api", new Expired("m1", Optional.empty(), 4, Optional.empty(), 0, 0));
        events.expired("report-export", new Expired("m1", name, 1, Optional.empty(), 0, 0));
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "Member orders-2 is not alive any more; it had 4 permit(s) of 'partner-api', 1 permit(s) of 'report-export'");
        for (int n = 0; n < 2 * 148; n++) {
            int i = n % 148; // an instance that stalls again and again loses its permits of a key more than once
            events.expired("key-" + i, new Expired("m1", Optional.empty(), 1, Optional.empty(), 0, 0));
            events.expired("key-" + i, new Expired("m2", Optional.of("other"), 1, Optional.empty(), 0, 0));
        }
        assertThat(events.latest()).hasSize(2);
        assertThat(events.latest().get(0).text()).startsWith("Member other is not alive any more;");
        assertThat(events.latest().get(1)).satisfies(event -> {
            assertThat(event.text())
                    .startsWith(
                            "Member orders-2 is not alive any more; it had 4 permit(s) of 'partner-api', 1 permit(s)")
                    .endsWith("1 permit(s) of 'key-2', and permits of 145 other key(s)");
            assertThat(event.key()).isEmpty();
            assertThat(event.count()).isEqualTo(150);
        });
    }

    @Test
    void otherMembersOfAKeyThatAreNotAliveAnyMoreAreCounted() {
        events.expired("a", new Expired("m1", Optional.of("orders@host-2:4711"), 3, Optional.of(Duration.ZERO), 0, 0));
        events.expired("b", new Expired("m1", Optional.empty(), 1, Optional.empty(), 2, 5));
        assertThat(events.latest()).extracting(Event::kind).containsExactly("expiry");
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "Member orders@host-2:4711 is not alive any more; it had 3 permit(s) of 'a', 1 permit(s) of 'b'; 2 other(s) had 5");
    }

    @Test
    void graceIsOneEventThatCountsEachKeyOnce() {
        events.graceBegan("a", Duration.ofSeconds(15));
        assertThat(events.latest())
                .containsExactly(new Event(
                        NOW,
                        "grace",
                        "a",
                        "The store may have lost its state: this key gets no new permits for up to 15000 ms",
                        1));
        events.storeAnswers(Duration.ofSeconds(7));
        for (int i = 0; i < 9; i++) {
            events.graceBegan("a", Duration.ofSeconds(15));
            events.graceBegan("b", Duration.ofSeconds(15));
        }
        assertThat(events.latest()).hasSize(2);
        assertThat(events.latest().get(1))
                .isEqualTo(new Event(
                        NOW,
                        "grace",
                        "",
                        "The store may have lost its state: 2 keys get no new permits for up to 15000 ms",
                        2));
    }

    @Test
    void laterGraceIsAnotherEvent() {
        events.graceBegan("a", Duration.ofSeconds(15));
        now = NOW.plusSeconds(14);
        events.graceBegan("b", Duration.ofSeconds(15));
        assertThat(events.latest()).singleElement().satisfies(event -> {
            assertThat(event.at()).isEqualTo(NOW);
            assertThat(event.count()).isEqualTo(2);
        });
        now = NOW.plusSeconds(16);
        events.graceBegan("a", Duration.ofSeconds(15));
        assertThat(events.latest()).extracting(Event::count).containsExactly(1, 2);
    }

    @Test
    void endOfAGraceIsAnEvent() {
        events.graceBegan("a", Duration.ofSeconds(15));
        events.graceEnded(Duration.ofMillis(15_010));
        assertThat(events.latest())
                .extracting(Event::text)
                .first()
                .isEqualTo(
                        "All keys of this instance get new permits again, 15010 ms after the store may have lost its state");
        events.graceBegan("b", Duration.ofSeconds(15));
        assertThat(events.latest()).extracting(Event::count).containsExactly(1, 1, 1);
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
        for (int i = 0; i < 200; i++) {
            events.storeSlow(Duration.ofMillis(640));
            events.storeQuick(Duration.ofSeconds(6));
        }
        assertThat(events.latest())
                .extracting(Event::text)
                .containsExactly(
                        "The store answers this instance quickly again; it was slow for 6000 ms (201 times)",
                        "The store answers this instance slowly: after 640 ms on average (201 times)",
                        "Instances state different limits: 6 by one; 12 by two");
    }
}
