package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.key.Bench.Party;
import io.github.distributedpermit.spi.Caller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
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
        a.engine.probe();
        bench.runMillis(5);
        bench.conditions.refusing = true;
        for (int i = 0; i < 3; i++) {
            a.engine.probe();
            bench.run(Duration.ofSeconds(1));
        }
        assertThat(a.engine.status().isAnswering()).isFalse();
        bench.conditions.refusing = false;
        a.engine.probe();
        bench.runMillis(5);
        assertThat(a.engine.status().isAnswering()).isTrue();
        assertThat(lines).hasSize(2);
    }

    private List<String> warnings() {
        return lines.stream()
                .filter(line -> line.startsWith("WARN") && !line.contains("has not answered for"))
                .toList();
    }

    @Test
    void manyLossesAreOneLineAndOneWithTheNumberOfTheOthers() {
        a.engine.describeCallersBy(() ->
                new Caller(1, Optional.of("com.example.Reports.export"), new Thread("worker-1"), Optional.empty()));
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            held.add(a.hold());
        }
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE);
        assertThat(held).noneMatch(Permit::isHeld);
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "lost 1 permit(s) of 'report', key 'report': the store has not confirmed it for a lease.",
                        "The call of com.example.Reports.export on thread 'worker-1' goes on without");
        assertThat(a.engine.status().lost()).isEqualTo(100);
        bench.run(Duration.ofSeconds(11));
        assertThat(warnings()).hasSize(2);
        assertThat(warnings().get(1)).contains("lost 99 more permit(s)");

        bench.conditions.claimsLost = false;
        bench.run(Bench.LEASE);
        Permit again = a.hold();
        bench.conditions.claimsLost = true;
        bench.run(Bench.LEASE.multipliedBy(3));
        assertThat(again.isHeld()).isFalse();
        assertThat(warnings()).hasSize(3);
    }

    @Test
    void lossBecauseTheStoreHasGivenThePermitToAnotherMemberIsLoggedAsThat() {
        Permit permit = bench.member("one", 1).hold();
        bench.network.server.empty();
        bench.member("two", 1).hold();
        bench.run(Bench.LEASE.dividedBy(2));
        assertThat(permit.isHeld()).isFalse();
        assertThat(warnings())
                .singleElement()
                .asString()
                .contains(
                        "the store has taken it from this instance, by order of an operator or because its record was deleted");
    }
}
