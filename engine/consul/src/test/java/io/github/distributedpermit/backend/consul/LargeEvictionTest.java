package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.SharedConsul;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The eviction of a member that holds about as many permits as one transaction can delete, and waits for more. */
class LargeEvictionTest {

    private static final String KEY = "large";

    private final Bench bench =
            new Bench(SharedConsul.get().address(), SharedConsul.get().probe());

    @AfterEach
    void leave() {
        bench.close();
    }

    @ParameterizedTest
    @CsvSource({"SLOTS,59", "SLOTS,60", "SLOTS,70", "LOCK_FILE,58", "LOCK_FILE,59", "LOCK_FILE,70"})
    void takesAllPermitsAndThePlaceInTheQueue(ConsulLayout layout, int permits) {
        ConsulSettings settings = bench.settings(layout, Bench.REQUEST_TIMEOUT);
        TestMember other = bench.member(settings);
        TestMember member = bench.member(settings);
        other.queue(KEY, permits + 1, 1);
        member.queue(KEY, permits + 1, permits + 1);
        await().until(() -> other.inspect(KEY).used() == permits + 1);
        assertThat(waiting()).isEqualTo(1);

        int taken = other.store()
                .evict(KEY, member.id())
                .toCompletableFuture()
                .orTimeout(20, TimeUnit.SECONDS)
                .join();

        assertThat(taken).isEqualTo(permits);
        assertThat(waiting()).isZero();
        assertThat(other.inspect(KEY).used()).isEqualTo(1);
    }

    private long waiting() {
        return bench.keys(KEY).stream()
                .filter(entry -> entry.name().contains("/m_"))
                .count();
    }
}
