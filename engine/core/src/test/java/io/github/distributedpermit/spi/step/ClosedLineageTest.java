package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A master that another one has replaced grants and renews no more, until it has another epoch. */
class ClosedLineageTest {

    private final Lineage lineage = new Lineage(0);
    private final KeyTable table = KeyTable.graced(Duration.ofSeconds(30));

    @Test
    void closedEpochRefusesEveryClaimAndALaterOneDoesNot() {
        assertThat(isAnswered(1, 1, 7)).isTrue();
        lineage.close(lineage.epoch() + 1, server(7));
        assertThat(isAnswered(2, 1, 7)).as("another epoch was closed").isTrue();
        lineage.close(lineage.epoch(), server(7));

        assertThat(isAnswered(3, 1, 7)).isFalse();
        assertThat(isAnswered(4, 0, 7)).isFalse();
        assertThat(isAnswered(5, 1, 8)).isTrue();
    }

    private boolean isAnswered(long sequence, int wanted, long epoch) {
        Claim claim = new Claim("k", 1, sequence, wanted, wanted, 0, Duration.ZERO, Duration.ofSeconds(15), false);
        return table.claim("m", claim, 1_000_000, 0, lineage, server(epoch)).isPresent();
    }

    private static ServerIdentity server(long epoch) {
        return new ServerIdentity(epoch, "run", "", epoch > 7, 0, Set.of());
    }
}
