package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.KeyList;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Many keys, odd keys, idle keys (law 8), and what operators see. */
interface KeyLaws extends ContractTests {

    /** More than any test uses. */
    int MOST = 10_000;

    @Test
    default void keysHaveNothingToDoWithEachOther(Peer a, Peer b, String first, String second) {
        a.queue(first, 1, 1);

        assertThat(b.queue(second, 1, 1).permits()).isEqualTo(1);
        a.keep(first, 1, 0);
        assertThat(look(second).permits(b)).isEqualTo(1);
        assertThat(look(first).used()).isZero();
    }

    @Test
    default void oneSequenceRunsOverAllKeysOfAMember(Peer a, String first, String second) {
        Claim late = a.next(a.queueing(second, 3, 3));
        a.queue(first, 3, 1);

        // not late for the second key, which has heard nothing from the member yet
        assertThat(a.send(late).permits()).isEqualTo(3);
        assertThat(a.keep(second, 3, 1).sequence()).isEqualTo(3);
        assertThat(a.queue(first, 3, 2).sequence()).isEqualTo(4);
        assertThat(a.send(late).permits()).isEqualTo(1);
    }

    @Test
    default void oddKeysDoNotCollide(Peer a) {
        String long1 = "k".repeat(10_000) + "1";
        String long2 = "k".repeat(10_000) + "2";
        List<String> odd = List.of(
                " ",
                "  ",
                "a b",
                "a+b",
                "a%20b",
                "a\nb",
                "a\u0000b",
                "a:b",
                "a/b",
                "/a",
                "a/",
                "a//b",
                "..",
                ".",
                "{",
                "}",
                "{a}b",
                "}a{",
                "{a",
                "a",
                "A",
                "ä",
                "a\u0308",
                "\u2028",
                "日本",
                "😀",
                "\ud83d",
                "\ude00",
                "?",
                "*",
                "a~b",
                "a%b",
                "%61",
                "%",
                "'\"\\",
                long1,
                long2);
        odd.forEach(harness()::key);

        for (int i = 0; i < odd.size(); i++) {
            assertThat(a.queue(odd.get(i), 50, i + 1).permits()).isEqualTo(i + 1);
        }
        for (int i = 0; i < odd.size(); i++) {
            assertThat(look(odd.get(i)).used()).as(odd.get(i)).isEqualTo(i + 1);
            assertThat(a.inspect(odd.get(i)).used()).as(odd.get(i)).isEqualTo(i + 1);
            assertThat(a.inspect(odd.get(i)).key()).isEqualTo(odd.get(i));
        }
        KeyList all = a.keys(MOST);
        assertThat(all.keys())
                .doesNotHaveDuplicates()
                .containsAll(odd.stream().filter(key -> key.length() < 1_000).toList());
        boolean known = all.keys().containsAll(List.of(long1, long2));
        assertThat(all.more())
                .as("keys that are not listed, because their names are too long")
                .isNotEqualTo(known);
        assertThat(a.keys(2).keys()).hasSize(2);
        assertThat(a.keys(2).more()).isTrue();
    }

    @Test
    default void servedMemberIsToldItsKeyAsTheUserGaveIt(Peer a, Peer b) {
        List<String> odd = List.of("tenant {1}: ü/\n😀", "k".repeat(10_000));
        for (String key : odd) {
            harness().key(key);
            a.queue(key, 1, 1);
            b.queue(key, 1, 1);
        }
        odd.forEach(key -> a.keep(key, 1, 0));

        b.awaitNotices(odd.toArray(String[]::new));
    }

    /** The system property {@code tests.long} asks for a thousand keys. */
    @Test
    default void manyKeysUsedOnceLeaveNothing(Peer a) {
        int keys = Boolean.getBoolean("tests.long") ? 1_000 : 100;
        for (int i = 0; i < keys; i++) {
            String key = "once-" + i;
            a.attempt(key, 1, 1);
            a.keep(key, 1, 0);
        }
        // The check after every test looks for what the other keys left in the store.
        assertThat(look("once-" + (keys - 1)).used()).isZero();
    }

    /** Of the last returns each is planned on a state that has the other member's permit. */
    @Test
    default void keysThatMembersUsedSideBySideLeaveNothingWhileTheMembersLive(Peer a, Peer b) {
        for (int i = 0; i < 20; i++) {
            String key = key();
            a.queue(key, 3, 1);
            b.queue(key, 3, 1);
            a.queue(key, 3, 2);
            b.keep(key, 3, 0);
            a.keep(key, 3, 0);
        }

        harness().assertNothingIsLeft();
    }

    @Test
    default void inspectShowsWhoHoldsAndThenTheLine(String key, Peer a, Peer b, Peer c) {
        a.queue(key, 2, 2);
        b.queue(key, 2, 1);
        c.queue(key, 2, 2);

        KeyState state = c.inspect(key);

        assertThat(state.key()).isEqualTo(key);
        assertThat(state.used()).isEqualTo(2);
        assertThat(state.override().isEmpty()).isTrue();
        assertThat(state.members())
                .extracting(MemberState::plain)
                .containsExactly(
                        new MemberState(a.id(), 2, 2, 2, false, 0),
                        new MemberState(b.id(), 0, 1, 2, true, 1),
                        new MemberState(c.id(), 0, 2, 2, true, 2));
    }

    @Test
    default void keyWithALimitOfTheOperatorIsListedAlthoughNoMemberUsesIt(String key, Peer a) {
        a.override(key, OverrideLimit.of(0));
        assertThat(a.keys(MOST).keys()).contains(key);

        a.override(key, OverrideLimit.empty());
    }

    @Test
    default void inspectOfAnUnknownKeyIsEmptyAndLeavesNothing() {
        KeyState state = peer().inspect(key());

        assertThat(state.used()).isZero();
        assertThat(state.members()).isEmpty();
        assertThat(harness().fixture().residue()).isEmpty();
    }

    @Test
    default void memberThatReturnedEverythingIsNotShown(String key, Peer a) {
        a.queue(key, 2, 2);
        a.keep(key, 2, 0);

        assertThat(a.inspect(key).members()).isEmpty();
    }
}
