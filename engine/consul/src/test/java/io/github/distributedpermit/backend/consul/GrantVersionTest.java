package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GrantVersionTest {

    private static final String SESSION = "00000000-0000-0000-0000-000000000001";

    private final KeyNames names = KeyNames.of("prefix", "key");

    @Test
    void versionsGrowThoughWhatIsLeftInConsulIsOlder() {
        long held = snapshot(50, true, slot(3, 50)).version(SESSION, 0);
        long returned = snapshot(50, true).version(SESSION, held);
        long served = GrantVersion.ofNotice(60, 0);

        assertThat(List.of(held, returned, served)).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void versionStaysWhileNothingIsWritten() {
        long held = snapshot(50, true, slot(3, 50)).version(SESSION, 0);

        assertThat(snapshot(50, false, slot(3, 50)).version(SESSION, held)).isEqualTo(held);
    }

    /** The permit that the notice tells of was found by a claim, returned, and is deleted. */
    @Test
    void noticeOfAPermitThatWasReturnedHasALowerVersionThanTheReturn() {
        long notice = GrantVersion.ofNotice(100, 0);

        assertThat(snapshot(100, true).version(SESSION, 0)).isGreaterThan(notice);
    }

    private ConsulSnapshot snapshot(long seen, boolean own, KeyValue... slots) {
        return new ConsulSnapshot(SlotTree.of(names, List.of(slots)), seen, own);
    }

    private KeyValue slot(int number, long index) {
        return new KeyValue(names.slot(number), "{\"member\":\"m\",\"limit\":9}", SESSION, 0, index);
    }
}
