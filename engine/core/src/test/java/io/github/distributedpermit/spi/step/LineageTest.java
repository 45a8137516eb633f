package io.github.distributedpermit.spi.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Claims for a server that was emptied while it ran, so that only the lineage shows it. */
public class LineageTest {

    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final long SECOND = 1_000_000;
    private static final ServerIdentity SERVER =
            new ServerIdentity(0x01020304, "0123456789abcdef", "", false, 1, Set.of());

    private static final long HOUR = 3_600 * SECOND;

    private ServerIdentity server = SERVER;
    private GracedTable table = new GracedTable(Duration.ofSeconds(30));
    private Lineage lineage = new Lineage(3 * SECOND);
    private long now = 1_000_000 * SECOND;

    /** The member had returned the permit by a later claim, and another one has reclaimed it since. */
    @Test
    public void aClaimFromBeforeTheServerWasEmptiedReclaimsNothing() {
        long before = claim("a", 1, 0, 0).epoch();
        Claim delayed = claimOf(2, 1, before);

        now += SECOND;
        table = new GracedTable(Duration.ofSeconds(30));
        lineage = new Lineage(3 * SECOND);
        long after = claim("b", 1, 1, before).epoch();
        assertThat(claim("b", 2, 1, after).permits()).isEqualTo(1);

        Holding late = table.claim("a", delayed, now, now, lineage, SERVER, 0)
                .orElseThrow()
                .answer()
                .orElseThrow();

        assertThat(late.permits()).isZero();
        assertThat(after).isNotEqualTo(before);
    }

    /** The first claim of the one key came from a member that remembered nothing, so that the server looked new. */
    @Test
    public void aLossThatAnyKeyShowsBeginsAGraceOfAll() {
        long before = claim("a", 1, 0, 0).epoch();
        now += SECOND;
        table = new GracedTable(Duration.ofSeconds(30));
        lineage = new Lineage(3 * SECOND);
        assertThat(claim("new", 1, 0, 0).permits()).isEqualTo(1);
        GracedTable other = new GracedTable(Duration.ofSeconds(30));
        now += SECOND;
        other.claim("a", claimOf(1, 0, before), now, now, lineage, SERVER, 0);

        Holding withheld = claim("newer", 1, 0, 0);

        assertThat(withheld.permits()).isZero();
        assertThat(withheld.others().grace()).isTrue();
        Holding foreign = claim("a", 2, 1, before);
        assertThat(claim("a", 3, 1, foreign.epoch()).permits()).isEqualTo(1);
        now += LEASE.toSeconds() * SECOND;
        assertThat(claim("newer", 2, 0, foreign.epoch()).permits()).isEqualTo(1);
    }

    /** The promoted server has the records of the former one, and its clock shows the time of their last check again. */
    @Test
    public void aCheckOfTheFormerMasterDoesNotCountForAPromotedServer() {
        long before = claim("a", 1, 0, 0).epoch();
        server = new ServerIdentity(0x05060708, "fedcba9876543210", "", true, 1, Set.of());
        now -= SECOND / 10;

        Holding promoted = claim("b", 1, 0, before);

        assertThat(promoted.epoch()).isNotEqualTo(before);
        assertThat(promoted.others().grace()).isTrue();
    }

    /** A key that no member claimed during the grace is as good as new. */
    @Test
    public void aKeyThatRestedDuringTheGraceIsServedAfterIt() {
        claim("new", 1, 0, 0);
        GracedTable other = new GracedTable(Duration.ofSeconds(30));
        now += SECOND;
        other.claim("a", claimOf(1, 0, 1), now, now, lineage, SERVER, 0);
        now += LEASE.toSeconds() * SECOND;

        assertThat(claim("newer", 1, 0, 0).permits()).isEqualTo(1);
    }

    /** The lineage has the time of the loss, which the clock then reaches again an hour later. */
    @Test
    public void aClockThatIsSetBackAfterALossDelaysGrantsForALeaseAtMost() {
        assertThat(claim("a", 1, 0, 1).others().grace()).isTrue();
        now -= HOUR;

        long epoch = claim("a", 2, 0, 0).epoch();

        assertThat(claim("a", 3, 1, epoch).permits()).as("it holds one validly").isEqualTo(1);
        now += LEASE.toSeconds() * SECOND - 2 * SECOND;
        assertThat(claim("b", 1, 0, epoch).permits()).as("before the end").isZero();
        now += 2 * SECOND;
        assertThat(claim("b", 2, 0, epoch).permits()).isEqualTo(1);
        table = new GracedTable(Duration.ofSeconds(30));
        assertThat(claim("b", 3, 0, epoch).permits()).as("another key").isEqualTo(1);
    }

    /** Nothing shows whether members have grants of before: the server seemed to be new. */
    @Test
    public void aClockThatIsSetBackToBeforeTheStartOfTheServerDelaysGrantsForALeaseAtMost() {
        server = new ServerIdentity(SERVER.epoch(), SERVER.run(), "", false, now, Set.of());
        assertThat(claim("a", 1, 0, 0).others().grace()).isTrue();
        now -= HOUR;

        assertThat(claim("a", 2, 0, 0).permits()).isZero();

        now += LEASE.toSeconds() * SECOND;
        assertThat(claim("a", 3, 0, 0).permits()).isEqualTo(1);
    }

    /** The grace of one key, whose records alone were lost. */
    @Test
    public void theGraceOfAKeyLastsNoLongerIfTheClockIsSetBack() {
        assertThat(claim("a", 1, 1, 0).others().grace()).isTrue();
        now -= HOUR;
        assertThat(claim("b", 1, 0, 0).permits()).isZero();
        now += LEASE.toSeconds() * SECOND - SECOND;
        assertThat(claim("b", 2, 0, 0).permits()).as("before the end").isZero();

        now += SECOND;

        assertThat(claim("b", 3, 0, 0).permits()).isEqualTo(1);
    }

    private Holding claim(String member, long sequence, int kept, long epoch) {
        now += SECOND / 10;
        return table.claim(member, claimOf(sequence, kept, epoch), now, now, lineage, server, 0)
                .orElseThrow()
                .answer()
                .orElseThrow();
    }

    private static Claim claimOf(long sequence, int kept, long epoch) {
        return Claim.of("key", sequence, LEASE).limit(2).wanted(1).reclaim(Claim.Reclaim.of(kept, epoch));
    }
}
