package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A master that another one has replaced grants and renews no more, until it has another epoch or a later vote opens it. */
class ClosedLineageTest {

    private final Lineage lineage = new Lineage(0);
    private final GracedTable table = new GracedTable(Duration.ofSeconds(30));

    @Test
    void closedEpochRefusesEveryClaimAndALaterOneDoesNot() {
        assertThat(isAnswered(1, 1, 7)).isTrue();
        lineage.close(lineage.epoch() + 1, server(7), 1);
        assertThat(isAnswered(2, 1, 7)).as("another epoch was closed").isTrue();
        lineage.close(lineage.epoch(), server(7), 1);

        assertThat(isAnswered(3, 1, 7)).isFalse();
        assertThat(isAnswered(4, 0, 7)).isFalse();
        assertThat(isAnswered(5, 1, 8)).isTrue();
    }

    /** Such a server has not followed the other master, so that its own epoch has not changed. */
    @Test
    void laterVoteOpensTheServerAndItsRecordsCountNoMore() {
        assertThat(isAnswered(1, 1, 7)).isTrue();
        long before = lineage.epoch();
        lineage.close(before, server(7), 4);

        lineage.open(4, 1_000_000);
        assertThat(isAnswered(2, 1, 7)).as("opened by the vote that closed it").isFalse();
        lineage.open(5, 1_000_000);

        Claim other = Claim.of("k", 1, Duration.ofSeconds(15)).wanted(1);
        Holding answer = table.claim("other", other, 1_000_000, 0, lineage, server(7), 0)
                .flatMap(Step::answer)
                .orElseThrow();
        assertThat(answer.epoch()).isNotEqualTo(before);
        assertThat(answer.others().grace()).isTrue();
        assertThat(answer.permits())
                .as("while the first member may hold the only permit")
                .isZero();
        lineage.close(before, server(7), 6);
        assertThat(isAnswered(3, 1, 7)).as("a request from before is late").isTrue();
    }

    /** Two members may leave it because of different votes. */
    @Test
    void earlierVoteDoesNotReplaceTheOneThatClosedTheServer() {
        assertThat(isAnswered(1, 1, 7)).isTrue();
        lineage.close(lineage.epoch(), server(7), 6);
        lineage.close(lineage.epoch(), server(7), 4);

        lineage.open(5, 1_000_000);

        assertThat(isAnswered(2, 1, 7)).isFalse();
    }

    /** The epoch changes without a loss when the last replica has been away for long; the server is still a former master. */
    @Test
    void closedServerStaysClosedWhenOnlyItsEpochChanges() {
        assertThat(isAnswered(1, 1, 3)).isTrue();
        lineage.close(lineage.epoch(), server(3), 4);

        assertThat(isAnswered(2, 1, 4)).isFalse();
        assertThat(isAnswered(3, 1, 4)).isFalse();
        assertThat(isAnswered(4, 1, 5)).as("after another change").isFalse();

        lineage.open(4, 1_000_000);
        assertThat(isAnswered(5, 1, 5)).as("opened by the vote that closed it").isFalse();
        lineage.open(5, 1_000_000);
        assertThat(isAnswered(6, 1, 5)).isTrue();
    }

    /** Otherwise the data would count as lost, and the former master would begin a grace instead of refusing. */
    @Test
    void closedServerStaysClosedWhenItsClockIsSetBackAndItsEpochChanges() {
        Claim remembers = Claim.of("k", 1, Duration.ofSeconds(15)).wanted(1).reclaim(Claim.Reclaim.of(0, 9));
        assertThat(table.claim("m", remembers, 2_000_000, 0, lineage, server(3), 0))
                .isPresent();
        assertThat(lineage.since()).isEqualTo(2_000_000);
        lineage.close(lineage.epoch(), server(3), 4);

        assertThat(isAnswered(2, 1, 4)).isFalse();
        assertThat(isAnswered(3, 1, 4)).isFalse();
    }

    /** An operator's order must not serve the queue either. */
    @Test
    void overrideOfAClosedServerServesNobody() {
        assertThat(isAnswered(1, 1, 7)).isTrue();
        Claim waits =
                Claim.of("k", 1, Duration.ofSeconds(15)).wanted(1).held(0).head(new Claim.Head(0, Duration.ZERO, true));
        table.claim("waiting", waits, 1_000_000, 0, lineage, server(7), 0);
        lineage.close(lineage.epoch(), server(7), 1);

        Step step = table.override(OverrideLimit.of(2), 1_000_000, lineage, server(7));

        assertThat(step.served()).isEmpty();
    }

    private boolean isAnswered(long sequence, int wanted, long epoch) {
        Claim claim = Claim.of("k", sequence, Duration.ofSeconds(15)).wanted(wanted);
        return table.claim("m", claim, 1_000_000, 0, lineage, server(epoch), 0).isPresent();
    }

    private static ServerIdentity server(long epoch) {
        return new ServerIdentity(epoch, "run", "", epoch > 7, 0, Set.of());
    }
}
