package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.KeyRegistry;
import io.github.distributedpermit.core.member.Observers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that are rejected at once, since their time-out would pass before their turn. */
class HopelessTest {

    private static final Duration HOLD = Duration.ofMillis(100);
    private static final PermitSettings REJECTING =
            PermitSettings.builder().limit(1).rejectHopeless(true).build();

    private final Bench bench = new Bench();
    private final Deque<Asked> calls = new ArrayDeque<>();
    private Party a = member(REJECTING);

    private Party member(PermitSettings settings) {
        return bench.member("a", Map.of(Bench.KEY, settings), CoreSettings.DEFAULTS, Observers.NONE);
    }

    private Asked ask(Duration timeout) {
        return a.acquire(timeout);
    }

    private Asked askAhead(Duration timeout, Duration headStart) {
        return a.ask(PermitRequest.builder(Bench.KEY)
                .timeout(timeout)
                .headStart(headStart)
                .build());
    }

    private Asked askOf(String group, Duration timeout) {
        return a.ask(
                PermitRequest.builder(Bench.KEY).timeout(timeout).fairBy(group).build());
    }

    private void enqueue(int count) {
        for (int i = 0; i < count; i++) {
            calls.add(a.acquire());
        }
        bench.runMillis(2);
    }

    /** The first calls hold their permits and return them, one after the other. */
    private void serve(int count) {
        for (int i = 0; i < count; i++) {
            Asked first = calls.remove();
            assertThat(first.holds()).isTrue();
            bench.run(HOLD);
            first.release();
            bench.runMillis(2);
        }
    }

    private static boolean isHopeless(Asked call) {
        return call.failure() instanceof PermitRejectedException e && e.reason() == Reason.WOULD_TIME_OUT;
    }

    @Test
    void aCallWhoseTurnComesAfterItsTimeOutIsRejectedAtOnce() {
        enqueue(30);
        serve(15);
        Asked hopeless = ask(HOLD.multipliedBy(12));
        assertThat(isHopeless(hopeless)).isTrue();
        assertThat(hopeless.failure())
                .hasMessageContaining("within the call's time-out")
                .hasMessageContaining("limit 1");
        assertThat(ask(HOLD.multipliedBy(16)).isWaiting()).isTrue();
        assertThat(a.acquire().isWaiting()).isTrue();
        assertThat(a.tryAcquire().isWaiting()).as("its own reason").isTrue();
    }

    @Test
    void unlessTheSettingsSaySoItWaits() {
        a = member(PermitSettings.ofLimit(1));
        enqueue(30);
        serve(15);
        Asked call = ask(HOLD);
        assertThat(call.isWaiting()).isTrue();
        bench.run(HOLD);
        assertThat(call.failure())
                .isInstanceOfSatisfying(
                        PermitRejectedException.class,
                        e -> assertThat(e.reason()).isEqualTo(Reason.TIMED_OUT));
    }

    @Test
    void noneIsRejectedBeforeTenPermitsHaveCome() {
        enqueue(30);
        serve(9);
        assertThat(ask(HOLD).isWaiting()).isTrue();
        serve(1);
        assertThat(isHopeless(ask(HOLD))).isTrue();
    }

    @Test
    void noneIsRejectedWhileAPermitMayBeFree() {
        enqueue(30);
        serve(15);
        Asked holder = calls.remove();
        calls.forEach(call -> call.future.cancel(false));
        holder.release();
        bench.runMillis(2);
        enqueue(1);
        Asked other = bench.member("b", 2).acquire(2);
        bench.runMillis(2);
        assertThat(other.isWaiting()).isTrue();
        calls.removeLast().release();
        bench.runMillis(2);
        assertThat(other.holds()).as("so that the answer for a is out of date").isTrue();
        List<Asked> more = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            more.add(ask(HOLD));
        }
        assertThat(more).noneMatch(HopelessTest::isHopeless);
    }

    /** Otherwise no permit would come to a call that waits, and show a pace that has changed. */
    @Test
    void twoCallsMayWaitHoweverSlowThePaceWas() {
        enqueue(30);
        serve(15);
        calls.stream().skip(1).forEach(call -> call.future.cancel(false));
        bench.runMillis(2);
        a.acquire();
        assertThat(ask(HOLD.dividedBy(2)).isWaiting()).isTrue();
        a.acquire();
        assertThat(isHopeless(ask(HOLD.dividedBy(2)))).isTrue();
    }

    @Test
    void aPaceOfLongAgoSaysNothing() {
        enqueue(30);
        serve(15);
        bench.run(HOLD.multipliedBy(9));
        assertThat(isHopeless(ask(HOLD))).isTrue();
        bench.run(HOLD.multipliedBy(2));
        assertThat(ask(HOLD).isWaiting()).isTrue();
        serve(9);
        assertThat(ask(HOLD).isWaiting()).as("the ten times begin anew").isTrue();
        serve(2);
        assertThat(isHopeless(ask(HOLD))).isTrue();
    }

    @Test
    void aCallThatEntersAfterItsTimeOutIsNotRejectedForThat() {
        KeyRegistry registry = Peek.registry(a.engine);
        PermitName permit = Peek.permit(a.engine, Bench.KEY);
        Waiter late = new Waiter(permit, Bench.KEY, 1, true, registry.now(), outcome -> {});
        late.deadline = registry.now() - 1;
        Objects.requireNonNull(registry.queue(Bench.KEY, permit.policy())).enter(late);
        assertThat(late.outcome()).isNull();
    }

    @Test
    void callsThatWillHaveTimedOutByThenDoNotCount() {
        enqueue(16);
        List<Asked> impatient = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            impatient.add(ask(HOLD.multipliedBy(16))); // there is no pace yet: they wait
        }
        serve(15);
        assertThat(impatient).allMatch(Asked::isWaiting);
        assertThat(ask(HOLD.multipliedBy(3)).isWaiting()).isTrue();
    }

    @Test
    void aCallIsNotRejectedForThoseThatItOvertakes() {
        enqueue(30);
        serve(15);
        assertThat(isHopeless(askAhead(HOLD.multipliedBy(2), Duration.ZERO))).isTrue();
        assertThat(askAhead(HOLD.multipliedBy(2), Duration.ofHours(1)).isWaiting())
                .isTrue();
    }

    @Test
    void aCallIsNotRejectedForThoseOfOtherGroups() {
        for (int i = 0; i < 30; i++) {
            calls.add(askOf("bulk", Duration.ofHours(1)));
        }
        bench.runMillis(2);
        serve(15);
        assertThat(isHopeless(askOf("bulk", HOLD.multipliedBy(2)))).isTrue();
        assertThat(askOf("other", HOLD.multipliedBy(2)).isWaiting()).isTrue();
    }

    @Test
    void anotherLimitBeginsAnew() {
        enqueue(30);
        serve(15);
        a.engine.changeSettings(
                PermitSettings.NONE,
                Map.of(
                        Bench.KEY,
                        PermitSettings.builder().limit(3).rejectHopeless(true).build()));
        assertThat(ask(HOLD).isWaiting()).isTrue();
    }

    @Test
    void anOperatorsLimitBeginsAnew() {
        enqueue(30);
        serve(15);
        assertThat(isHopeless(ask(HOLD))).isTrue();
        bench.override(3);
        bench.run(CoreSettings.DEFAULTS.recheck());
        assertThat(ask(HOLD).isWaiting()).isTrue();
    }

    @Test
    void whileTheStoreFailsCallsWaitForIt() {
        enqueue(30);
        serve(15);
        bench.conditions.refusing = true;
        bench.run(CoreSettings.DEFAULTS.recheck());
        assertThat(isHopeless(ask(HOLD))).isFalse();
    }

    /** Holds of random length: those that are rejected would not have had their permits in time, had they waited. */
    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void rejectedCallsWouldNotHaveBeenInTime(int permitsOfEach) {
        int rejected = 0;
        int wrongly = 0;
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Pace pace = new Pace();
            long now = 0;
            double[] holds =
                    random.doubles(400).map(u -> -1e8 * Math.log(1 - u)).toArray();
            for (int i = 0; i < 200; i++) {
                now += (long) holds[i];
                pace.served(permitsOfEach, now);
                int ahead = 2 + random.nextInt(150);
                double wait = 0;
                for (int k = 1; k <= ahead; k++) {
                    wait += holds[i + k];
                }
                double timeout = random.nextDouble() * 2e8 * ahead;
                if (pace.least((long) ahead * permitsOfEach, now) > timeout) {
                    rejected++;
                    wrongly += wait <= timeout ? 1 : 0;
                }
            }
        }
        assertThat(rejected).isGreaterThan(3_000);
        assertThat(wrongly).isLessThan(rejected / 1_000);
    }
}
