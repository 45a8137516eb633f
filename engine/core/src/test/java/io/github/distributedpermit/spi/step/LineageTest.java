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

    private KeyTable table = KeyTable.graced(Duration.ofSeconds(30));
    private Lineage lineage = new Lineage(3 * SECOND);
    private long now = 1_000_000 * SECOND;

    /** The member had returned the permit by a later claim, and another one has reclaimed it since. */
    @Test
    public void aClaimFromBeforeTheServerWasEmptiedReclaimsNothing() {
        long before = claim("a", 1, 0, 0).epoch();
        Claim delayed = claimOf(2, 1, before);

        now += SECOND;
        table = KeyTable.graced(Duration.ofSeconds(30));
        lineage = new Lineage(3 * SECOND);
        long after = claim("b", 1, 1, before).epoch();
        assertThat(claim("b", 2, 1, after).permits()).isEqualTo(1);

        Holding late = table.claim("a", delayed, now, now, lineage, SERVER)
                .orElseThrow()
                .answer()
                .orElseThrow();

        assertThat(late.permits()).isZero();
        assertThat(after).isNotEqualTo(before);
    }

    private Holding claim(String member, long sequence, int kept, long epoch) {
        now += SECOND / 10;
        return table.claim(member, claimOf(sequence, kept, epoch), now, now, lineage, SERVER)
                .orElseThrow()
                .answer()
                .orElseThrow();
    }

    private static Claim claimOf(long sequence, int kept, long epoch) {
        return new Claim("key", 2, sequence, 1, 1, 0, Duration.ZERO, LEASE, false, kept, epoch, false, 0);
    }
}
