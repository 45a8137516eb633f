package io.github.distributedpermit.core.key;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.core.store.StoreLog;
import io.github.distributedpermit.core.store.StoreWatch;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.Expired;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the log says of outages of the store and of lost permits. */
class StoreLogTest {

    private static final Logger LOGGER = Logger.getLogger("io.github.distributedpermit.core.store.StoreLog");

    private final Bench bench = new Bench();
    private final Party a = bench.member("a", 100);
    private final List<String> lines = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line.getLevel() + " " + new SimpleFormatter().formatMessage(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        LOGGER.addHandler(handler);
        LOGGER.setLevel(Level.ALL);
        LOGGER.setUseParentHandlers(false);
    }

    @AfterEach
    void stopListening() {
        LOGGER.removeHandler(handler);
        LOGGER.setLevel(null);
        LOGGER.setUseParentHandlers(true);
    }

    @Test
    void outageIsLoggedOnceWithItsLengthWhenItEnds() {
        bench.conditions.refusing = true;
        Asked call = a.acquire(Duration.ofSeconds(9));
        bench.runMillis(900);
        assertThat(lines).isEmpty();
        bench.run(Duration.ofSeconds(5));
        assertThat(lines)
                .singleElement()
                .asString()
                .startsWith("WARN")
                .contains("has not answered for 1", "connection refused", "Check the store");
        assertThat(a.engine.status().isAnswering()).isFalse();

        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(2));
        assertThat(call.holds()).isTrue();
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1)).startsWith("INFO").containsPattern("answers again after (59|6\\d)\\d\\d ms");
        assertThat(a.engine.status().isAnswering()).isTrue();
    }

    @Test
    void refusalIsLoggedOnceInTenMinutes() {
        StoreWatch watch = new StoreWatch(SECONDS.toNanos(2), new StoreLog("redis", "", each -> {}), () -> {});
        PermitStoreException refusal = PermitStoreException.permanent("no permissions to run the 'eval' command", null);
        for (int seconds = 0; seconds < 601; seconds += 100) {
            long now = SECONDS.toNanos(seconds);
            watch.failed(refusal, now, now, Runnable::run);
            watch.failed(PermitStoreException.ofKey("too large"), now, now, Runnable::run);
        }
        assertThat(lines)
                .hasSize(2)
                .allMatch(line -> line.startsWith("WARN") && line.contains("refuses a claim: no permissions to run"));
    }

    @Test
    void lostConnectionThatIsReplacedWithinASecondIsNotLogged() {
        bench.conditions.refusing = true;
        Asked call = a.acquire();
        bench.runMillis(500);
        bench.conditions.refusing = false;
        bench.run(Duration.ofSeconds(5));
        assertThat(call.holds()).isTrue();
        assertThat(lines).isEmpty();
    }

    @Test
    void healthChecksOfAnIdleInstanceFindTheOutageAndItsEnd() {
        a.engine.checkHealth();
        bench.runMillis(5);
        bench.conditions.refusing = true;
        for (int i = 0; i < 3; i++) {
            a.engine.checkHealth();
            bench.run(Duration.ofSeconds(1));
        }
        assertThat(a.engine.status().isAnswering()).isFalse();
        bench.conditions.refusing = false;
        a.engine.checkHealth();
        bench.runMillis(5);
        assertThat(a.engine.status().isAnswering()).isTrue();
        assertThat(lines).hasSize(2);
    }

    /** Calls that each hold their permit for a moment, for so long all together. */
    private void work(Duration time) {
        for (long end = bench.time.now() + time.toNanos(); bench.time.now() < end; ) {
            Asked call = a.acquire();
            bench.runMillis(700);
            call.release();
        }
    }

    @Test
    void slowStoreIsALineWhenItBeginsAndOneWhenItEnds() {
        work(Duration.ofSeconds(5));
        assertThat(a.engine.status().slow()).isEmpty();
        bench.conditions.delay = 300 * Weather.MILLI;
        work(Duration.ofSeconds(4));
        assertThat(lines).isEmpty();
        work(Duration.ofSeconds(60));
        assertThat(lines)
                .singleElement()
                .asString()
                .startsWith("WARN")
                .contains("The store of permits 'simulated' answers slowly: after 600 ms on average", "restart");
        assertThat(a.engine.status().slow())
                .hasValueSatisfying(time -> assertThat(time).isBetween(Duration.ofMillis(590), Duration.ofMillis(610)));
        assertThat(a.engine.status().isAnswering()).isTrue();

        bench.conditions.delay = Weather.MILLI / 2;
        work(Duration.ofSeconds(25));
        assertThat(lines).as("not before half a minute").hasSize(1);
        assertThat(a.engine.status().slow()).as("it is quick now").isEmpty();
        work(Duration.ofSeconds(20));
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1))
                .startsWith("INFO")
                .containsPattern("answers quickly again: .* was slow for [67]\\d{4} ms");
        assertThat(a.engine.status().slow()).isEmpty();
    }

    @Test
    void storeOnTheVergeIsOneLineAsLongAsItLasts() {
        for (int i = 0; i < 20; i++) {
            bench.conditions.delay = 300 * Weather.MILLI;
            work(Duration.ofSeconds(9));
            bench.conditions.delay = Weather.MILLI / 2;
            work(Duration.ofSeconds(11));
        }
        assertThat(lines).singleElement().asString().contains("answers slowly");
        work(Duration.ofSeconds(45));
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1)).containsPattern("was slow for (39|4\\d)\\d{4} ms");
    }

    /** A store that gets worse answers some claims late and others not at all. */
    @Test
    void claimsWithoutAnAnswerInTimeAreSlowToo() {
        bench.conditions.delay = 300 * Weather.MILLI;
        work(Duration.ofSeconds(20));
        assertThat(lines).hasSize(1);
        AtomicInteger answers = new AtomicInteger();
        bench.network.weather = new Weather() {
            @Override
            public long answerDelay() {
                return answers.getAndIncrement() % 5 < 4 ? LOST : MILLI / 2;
            }
        };
        List<Asked> calls = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> calls.add(a.acquireOf("key-" + i, Duration.ofMinutes(5))));
        for (long end = bench.time.now() + Duration.ofSeconds(90).toNanos(); bench.time.now() < end; ) {
            bench.runMillis(100);
            for (int i = 0; i < calls.size(); i++) {
                Asked call = calls.get(i);
                if (call.holds()) {
                    call.release();
                }
                if (!call.isWaiting()) {
                    calls.set(i, a.acquireOf("key-" + i, Duration.ofMinutes(5)));
                }
            }
        }
        assertThat(lines).as("no line that it is quick again").hasSize(1);
        assertThat(a.engine.status().slow()).isPresent();
    }

    @Test
    void answersThatAreSlowForAMomentAreNoLine() {
        for (int i = 0; i < 10; i++) {
            bench.conditions.delay = 300 * Weather.MILLI;
            work(Duration.ofMillis(1_400));
            bench.conditions.delay = Weather.MILLI / 2;
            work(Duration.ofSeconds(9));
        }
        assertThat(lines).isEmpty();
    }

    @Test
    void storeThatWasSlowIsNotCalledSlowWhenNothingHasAskedItForAMinute() {
        bench.conditions.delay = 300 * Weather.MILLI;
        work(Duration.ofSeconds(20));
        assertThat(a.engine.status().slow()).isPresent();
        bench.run(Duration.ofSeconds(70));
        assertThat(a.engine.status().slow()).isEmpty();
        bench.conditions.delay = Weather.MILLI / 2;
        bench.run(Duration.ofHours(1));
        work(Duration.ofSeconds(1));
        assertThat(a.engine.status().slow()).isEmpty();
        work(Duration.ofSeconds(45));
        assertThat(lines).hasSize(2);
        assertThat(lines.get(1)).containsPattern("was slow for [12]\\d{4} ms");
    }

    private List<String> warnings() {
        return lines.stream()
                .filter(line -> line.startsWith("WARN") && !line.contains("has not answered for"))
                .toList();
    }

    /** Calls of three methods on threads of their own, each with one permit. */
    private List<Permit> hold(PermitEngine engine, int calls) {
        AtomicInteger made = new AtomicInteger();
        engine.describeCallersBy(method -> {
            int call = made.incrementAndGet();
            Thread thread = new Thread("worker-" + call);
            return new Caller(
                    call, Optional.of("com.example.Reports.export" + call), thread, Optional.empty(), permit -> false);
        });
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            Asked call = new Asked(engine.named(Bench.KEY).acquireAsync(PermitRequest.of(Bench.KEY)));
            bench.runMillis(2);
            held.add(call.permit());
        }
        return held;
    }

    private void assertThreeLost(String cause) {
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "3 call(s) lost 3 permit(s) of 'report', key 'report': " + cause + ".",
                        "com.example.Reports.export1 on thread 'worker-1'",
                        "com.example.Reports.export2 on thread 'worker-2'",
                        "com.example.Reports.export3 on thread 'worker-3'");
    }

    @Test
    void lossesAtOneMomentAreOneLineAndLaterOnesOneWithTheirNumber() {
        List<Permit> held = hold(a.engine, 100);
        Asked other = a.acquireOf("other", Duration.ofSeconds(1));
        bench.runMillis(2);
        assertThat(other.holds()).isTrue();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(held).noneMatch(Permit::isHeld);
        assertThat(other.holds()).isFalse();
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "100 call(s) lost 100 permit(s) of 'report', key 'report': the store has not confirmed it for a lease.",
                        ", and 95 more.");
        assertThat(a.engine.status().lost()).isEqualTo(101);
        bench.run(Duration.ofSeconds(11));
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("lost 1 more permit(s)", "101 since the start");

        bench.conditions.claimsLost = false;
        bench.run(Bench.LEASE);
        Permit again = a.hold();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.multipliedBy(3));
        assertThat(again.isHeld()).isFalse();
        assertThat(warnings()).hasSize(3);
    }

    @Test
    void lossBecauseTheStoreDoesNotConfirmIsLoggedWithItsCalls() {
        hold(a.engine, 3);
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThreeLost("the store has not confirmed it for a lease");
    }

    @Test
    void lossBecauseTheStoreHasGivenThePermitsToAnotherMemberIsLoggedAsThat() {
        List<Permit> held = hold(bench.member("one", 3).engine, 3);
        bench.network.server.empty();
        Party two = bench.member("two", 3);
        IntStream.range(0, 3).forEach(i -> two.hold());
        bench.run(Bench.LEASE.dividedBy(2));
        assertThat(held).noneMatch(Permit::isHeld);
        assertThreeLost("it was taken from this instance, by order of an operator or because its record was deleted");
    }

    @Test
    void lossBecauseOfAnOperatorIsLoggedAsThatAndCountedCallByCall() {
        List<Permit> held = hold(a.engine, 3);
        assertThat(IntStream.rangeClosed(1, 3).map(call -> a.engine.take(Bench.KEY, call)))
                .containsExactly(1, 1, 1);
        assertThat(held).noneMatch(Permit::isHeld);
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "1 call(s) lost 1 permit(s) of 'report', key 'report'",
                        "by order of an operator",
                        "com.example.Reports.export1 on thread 'worker-1'");
        bench.run(Duration.ofSeconds(11));
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("lost 2 more permit(s)", "3 since the start");
    }

    @Test
    void aLossThatWasNotLoggedIsPartOfTheNextLine() {
        hold(a.engine, 3);
        a.engine.take(Bench.KEY, 1);
        bench.run(Duration.ofSeconds(1));
        a.engine.take(Bench.KEY, 2);
        bench.run(Duration.ofMillis(9_500));
        a.engine.take(Bench.KEY, 3);
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1))
                .contains("1 call(s) lost 1 permit(s)", " 1 other permit(s) were lost since the last");
    }

    private PermitEngine inSession(SimSessionStore store) {
        SimProcess process = new SimProcess("s", bench.time, 77);
        PermitEngine engine = new PermitEngine(
                store.backend(process),
                new Member("s", "s"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(Bench.KEY, PermitSettings.ofLimit(3)),
                new CoreEnvironment(process::clock, process, Runnable::run, Runnable::run, () -> 0.5, Observers.NONE));
        store.link("s").alive();
        return engine;
    }

    @Test
    void lossBecauseTheSessionHasEndedIsLoggedAsThat() {
        SimSessionStore store = new SimSessionStore(bench.time);
        List<Permit> held = hold(inSession(store), 3);
        store.link("s").lose();
        assertThat(held).noneMatch(Permit::isHeld);
        assertThreeLost("the session of this instance in the store has ended");
    }

    @Test
    void lossesOfAnInstanceThatLeavesAreAllLoggedBeforeItHasLeft() {
        PermitEngine engine = inSession(new SimSessionStore(bench.time));
        hold(engine, 3);
        Asked other = new Asked(engine.named(Bench.KEY).acquireAsync(PermitRequest.of("other")));
        bench.runMillis(2);
        assertThat(other.holds()).isTrue();
        engine.close();
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(0)).contains("this instance has left the store");
        assertThat(warnings().get(1)).contains("4 since the start");
    }

    @Test
    void membersThatAreNotAliveAnyMoreAreLoggedTenKeysAtATime() {
        for (int i = 0; i < 13; i++) {
            a.link.listener.expired("key-" + i, expired("b", Optional.of("orders@host-2:4711"), 0));
        }
        assertThat(warnings()).hasSize(10);
        assertThat(warnings().get(9))
                .contains(
                        "Member 'orders@host-2:4711' (id b) is not alive any more in the store 'simulated'",
                        "its lease ended 12 ms ago",
                        "It had 3 permit(s) of key 'key-9'")
                .doesNotContain("other member", "other key");
        bench.run(Duration.ofSeconds(11));
        a.link.listener.expired("late", expired("c\n", Optional.empty(), 2));
        assertThat(warnings()).hasSize(11);
        assertThat(warnings().get(10))
                .contains(
                        "Member 'c\\u000a' is not",
                        "its session has ended, or its record was deleted",
                        "So did 2 other member(s) with 5 permit(s)",
                        "3 other key(s)");
    }

    private static Expired expired(String member, Optional<String> name, int others) {
        Optional<Duration> ago = name.map(known -> Duration.ofMillis(12));
        return new Expired(member, name, 3, ago, others, others == 0 ? 0 : 5);
    }
}
