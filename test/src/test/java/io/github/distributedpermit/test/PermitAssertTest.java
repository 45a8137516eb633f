package io.github.distributedpermit.test;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.PermitCall.Phase;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Each assertion fails when it has to, and says what was found. */
class PermitAssertTest {

    private final PermitLog log = new PermitLog();
    private final Permits permits = new RecordingPermits(
            name -> {
                throw new UnsupportedOperationException(name);
            },
            log);

    @Test
    void holdsAtMostLooksAtTheHighestNumberOfEachKey() {
        PermitCall one = held("export", "a");
        PermitCall two = held("export", "a");
        held("export", "b");
        log.released(one);
        log.released(one);
        log.released(two);

        assertThat(permits).holdsAtMost(2);
        assertThat(permits).ofKey("b").holdsAtMost(1);
        fails(() -> assertThat(permits).holdsAtMost(1), "at most 1 permits", "{a=2}");
        fails(() -> assertThat(permits).ofName("export").ofKey("a").holdsAtMost(1), "of name 'export' of key 'a'");
    }

    @Test
    void holdsCountsWhatIsHeldNow() {
        log.granted(log.begin("export", PermitRequest.builder("a").permits(3).build()));
        held("export", "b");

        assertThat(permits).holds(4);
        fails(() -> assertThat(permits).ofKey("a").holds(1), "1 permits of key 'a'", "but 3 are", "PermitAssertTest");
        fails(() -> assertThat(permits).hasReleasedAll(), "3 of key 'a' (permit 'export', HELD)");
    }

    @Test
    void waitingAndRejectedCallsAreCounted() {
        log.begin("export", PermitRequest.of("a"));
        log.begin("export", PermitRequest.of("a").withoutWaiting());
        log.ended(log.begin("export", PermitRequest.of("a")), Phase.REJECTED);
        log.ended(log.begin("export", PermitRequest.of("a")), Phase.FAILED);

        assertThat(permits).hasWaiting(1).hasRejected(1).wasCalledTimes(4).hasReleasedAll();
        fails(() -> assertThat(permits).hasWaiting(2), "Expected 2 calls to wait now, but 1 do");
        fails(() -> assertThat(permits).hasRejected(0), "Expected 0 calls to be rejected, but 1 were", "REJECTED");
    }

    @Test
    void callsAreFoundByTheirKeys() {
        held("export", "a");
        held("export", "a");
        held("archive", "c");

        assertThat(permits).wasCalledWithKey("a").wasCalledWithKeys("c", "a", "a");
        fails(() -> assertThat(permits).wasCalledWithKey("x"), "key 'x'", "key 'c'");
        fails(() -> assertThat(permits).wasCalledWithKeys("a", "c"), "[a, a, c]");
        fails(() -> assertThat(permits).ofName("export").wasCalledTimes(3), "Expected 3 calls of name 'export'");
        fails(() -> assertThat(permits).wasNotCalled(), "Expected 0 calls, but there were 3");
    }

    @Test
    void nextTestSeesWhatIsStillHeldButNoEarlierCalls() {
        PermitCall leaked = held("export", "a");
        log.released(held("export", "b"));
        log.clear();

        assertThat(permits).wasNotCalled().holdsAtMost(1).holds(1);
        fails(() -> assertThat(permits).hasReleasedAll(), "key 'a'");
        log.released(leaked);
        assertThat(permits).hasReleasedAll();
    }

    @Test
    void permitsThatRecordNothingAreRefused() {
        Permits plain = name -> {
            throw new UnsupportedOperationException(name);
        };
        assertThatIllegalArgumentException()
                .isThrownBy(() -> assertThat(plain).holds(0))
                .withMessageContaining("record no calls")
                .withMessageContaining("@AutoConfigureDistributedPermit");
    }

    private PermitCall held(String name, String key) {
        PermitCall call = log.begin(name, PermitRequest.of(key));
        log.granted(call);
        return call;
    }

    private static void fails(ThrowingCallable assertion, String... parts) {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(assertion)
                .satisfies(e -> org.assertj.core.api.Assertions.assertThat(e.getMessage())
                        .contains(parts));
    }
}
