package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.core.key.Bench.Party;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Calls that end when the store knows of their return. The store answers when the test says so. */
class SynchronousReleaseTest {

    private final Bench bench = new Bench();

    @Test
    void returnIsConfirmedWhateverOthersReturnMeanwhile() throws Exception {
        Party a = bench.member("a", 3, Bench.synchronous());
        Permit one = a.hold();
        Permit two = a.hold();

        Thread first = releasing(one);
        Thread second = releasing(two);
        long claims = a.claims();
        bench.time.run(1_000_001);

        first.join(Duration.ofSeconds(20).toMillis());
        assertThat(first.isAlive()).isFalse();
        assertThat(second.isAlive()).isTrue();
        assertThat(a.claims()).isEqualTo(claims + 1);

        bench.runMillis(2);
        second.join(Duration.ofSeconds(20).toMillis());
        assertThat(second.isAlive()).isFalse();
        assertThat(bench.used()).isZero();
    }

    private static Thread releasing(Permit permit) {
        Thread thread = new Thread(permit::release);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        return thread;
    }
}
