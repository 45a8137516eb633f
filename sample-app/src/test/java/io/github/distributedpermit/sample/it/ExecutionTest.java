package io.github.distributedpermit.sample.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The measure itself has to tell a broken limit. */
class ExecutionTest {

    @Test
    void overlappingExecutionsAreCounted() {
        assertThat(Execution.mostAtOnce(List.of(from(0, 10), from(5, 15), from(9, 20), from(10, 11))))
                .isEqualTo(3);
    }

    @Test
    void executionsOneAfterTheOtherAreOneAtATime() {
        assertThat(Execution.mostAtOnce(List.of(from(10, 20), from(0, 10), from(20, 30))))
                .isEqualTo(1);
    }

    private static Execution from(long startMicros, long endMicros) {
        return new Execution(Instant.EPOCH.plusNanos(startMicros * 1_000), Instant.EPOCH.plusNanos(endMicros * 1_000));
    }
}
