package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class VersionsTest {

    private static final String SESSION = "00000000-0000-0000-0000-000000000001";

    private final KeyNames names = KeyNames.of("prefix", "key");
    private final Versions versions = new Versions();

    /** The permit it tells of was found by a claim, returned, and is gone without a trace. */
    @Test
    void noticeOfWhatHasBeenSeenAndReturnedIsNoNews() {
        assertThat(versions.isNews(100)).isTrue();

        versions.seen(100);
        versions.answer(SlotBoard.of(names, List.of()), SESSION, true);

        assertThat(versions.isNews(100)).isFalse();
        assertThat(versions.isNews(101)).isTrue();
    }

    @Test
    void versionsGrowThoughWhatIsLeftInConsulIsOlder() {
        long held = versions.answer(SlotBoard.of(names, List.of(slot(3, 50))), SESSION, true);
        long again = versions.answer(SlotBoard.of(names, List.of(slot(3, 50))), SESSION, false);
        long returned = versions.answer(SlotBoard.of(names, List.of()), SESSION, true);
        long served = versions.notice(60, 0);

        assertThat(List.of(held, again, returned, served)).isSorted().doesNotHaveDuplicates();
    }

    private Entry slot(int number, long index) {
        return new Entry(names.slot(number), "{\"member\":\"m\",\"limit\":9}", SESSION, 0, index, index);
    }
}
