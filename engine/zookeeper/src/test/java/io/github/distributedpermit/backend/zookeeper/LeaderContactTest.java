package io.github.distributedpermit.backend.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A session of 1200. */
class LeaderContactTest {

    private final LeaderContact contacts = new LeaderContact(1_200);

    @Test
    void firstAnswerProvesOnlyWhatTheLibraryMustHaveSentAndTheServerReported() {
        assertThat(contacts.committed(10_000, 10_010)).isEqualTo(10_000 - 400 - 300);
    }

    @Test
    void contactCountsOnceItMustHaveBeenReportedBeforeALaterAnswer() {
        contacts.committed(10_000, 10_010);

        assertThat(contacts.committed(10_300, 10_305)).isEqualTo(10_300 - 700);
        assertThat(contacts.committed(10_310, 10_315)).isEqualTo(10_000);
    }

    @Test
    void contactCountsFromWhenItWasSentAndOnlyIfItWasAnsweredInTime() {
        contacts.committed(10_000, 10_900);

        assertThat(contacts.committed(11_000, 11_001)).isEqualTo(11_000 - 700);
        assertThat(contacts.committed(11_200, 11_201)).isEqualTo(11_200 - 700);
        assertThat(contacts.committed(11_310, 11_311)).isEqualTo(11_000);
    }
}
