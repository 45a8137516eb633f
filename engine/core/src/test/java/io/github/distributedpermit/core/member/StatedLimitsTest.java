package io.github.distributedpermit.core.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.testsupport.Logged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How often it is reported that instances state different limits. */
class StatedLimitsTest {

    private static final Logger LOGGER = Logger.getLogger(StatedLimits.class.getName());

    private static final Member SELF = new Member("self", "orders-9");

    private final List<String> changes = new ArrayList<>();
    private final Logged logged = new Logged(StatedLimits.class);
    private final List<String> lines = logged.texts();
    private final StatedLimits limits = new StatedLimits(SELF, (key, stated) -> changes.add(key + ": " + stated));
    private long now;

    @BeforeEach
    void keepLinesOffTheConsole() {
        LOGGER.setUseParentHandlers(false);
    }

    @AfterEach
    void stopListening() {
        logged.close();
        LOGGER.setUseParentHandlers(true);
    }

    /** The first one is of this instance. */
    private void note(String name, OverrideLimit override, int... stated) {
        List<MemberState> members = IntStream.range(0, stated.length)
                .mapToObj(i -> new MemberState("m" + i, 1, 1, stated[i], false, 0)
                        .named(i == 0 ? SELF.id() : "m" + i, Optional.of("orders-" + i)))
                .toList();
        limits.note(name, new KeyState("key of " + name, 1, override, members), 6, now);
    }

    private void note(int... stated) {
        note("report", OverrideLimit.empty(), stated);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void linesNameBothLimitsTheirMembersAndWhatToDo() {
        note(6, 12, 6);
        assertThat(lines)
                .singleElement()
                .asString()
                .startsWith("Instances state different limits")
                .contains(
                        "permit 'report', key 'key of report': 6 by orders-9, orders-2; 12 by orders-1.",
                        "distributed-permit.permits.report.limit");
        assertThat(changes).containsExactly("key of report: 6 by orders-9, orders-2; 12 by orders-1");
        note(6, 12, 12, 12, 12, 12, 12, 12, 7);
        assertThat(lines.get(1)).contains("12 by orders-1, orders-2, orders-3, orders-4, orders-5, 2 more");
    }

    /** The store knows its limit only while calls of it hold or wait. */
    @Test
    void instanceThatReadsTheKeyIsNamedToo() {
        MemberState other = new MemberState("m1", 1, 1, 12, false, 0).named("m1", Optional.of("orders-1"));
        KeyState key = new KeyState("fleet", 1, OverrideLimit.empty(), List.of(other));
        limits.note("report", key, 12, now);
        assertThat(changes).isEmpty();
        limits.note("report", new KeyState("fleet", 0, OverrideLimit.empty(), List.of()), 6, now);
        assertThat(changes).isEmpty();
        limits.note("report", key, 6, now);
        assertThat(changes).containsExactly("fleet: 6 by orders-9; 12 by orders-1");
    }

    @Test
    void oneLineForEachPermitAndForEachLimitThatJoins() {
        for (int i = 0; i < 100; i++) {
            note(6, 12);
            pass(Duration.ofSeconds(15));
            note(6, 6); // those with another limit neither hold nor wait at this moment
            note(6);
            pass(Duration.ofSeconds(15));
        }
        assertThat(lines).hasSize(1);
        note(12, 20);
        note(6, 12);
        note(20, 6);
        assertThat(lines).hasSize(2);
        note("other", OverrideLimit.empty(), 1, 2);
        assertThat(lines).hasSize(3);
        pass(Duration.ofMinutes(11));
        note(12, 6);
        assertThat(lines).as("a later update").hasSize(4);
    }

    @Test
    void sameLimitsAndThoseThatAnOperatorsReplacesAreNoLine() {
        note();
        note(6);
        note(6, 6, 6);
        note("report", OverrideLimit.of(4), 6, 12);
        assertThat(lines).isEmpty();
        assertThat(changes).isEmpty();
    }

    /** During an update from one limit to limits that each call states, which the other instances have already. */
    @Test
    void limitsOfOneNameAreBounded() {
        for (int limit = 7; limit < 100; limit++) {
            note(6, limit);
            pass(Duration.ofSeconds(15));
        }
        assertThat(lines).hasSize(4);
        pass(Duration.ofMinutes(11));
        note(6, 7);
        assertThat(lines).as("a later update").hasSize(5);
    }

    /** Names may be made by users at run time. */
    @Test
    void namesAreBounded() {
        for (int i = 0; i < 3_000; i++) {
            note("tenant-" + i, OverrideLimit.empty(), 1, 2);
        }
        assertThat(lines).hasSize(1_000);
        pass(Duration.ofMinutes(11));
        note("late", OverrideLimit.empty(), 1, 2);
        assertThat(lines).hasSize(1_001);
    }
}
