package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a member receives of Consul does not grow with its keys, nor with the members that wait beside it. */
class AnswerSizeTest {

    private static final String KEY = "size";

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), probe);

    @AfterEach
    void leave() {
        bench.close();
        front.close();
    }

    private TestMember direct(ConsulLayout layout) {
        return bench.member(bench.settings(SharedConsul.get().address(), layout, Bench.REQUEST_TIMEOUT));
    }

    private TestMember observed(ConsulLayout layout) {
        return bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
    }

    private List<String> notices(TestMember member) {
        String inbox = inbox(member);
        return probe.keys(inbox).stream()
                .map(key -> key.name().substring(inbox.length()))
                .filter(name -> !name.startsWith("."))
                .toList();
    }

    private String inbox(TestMember member) {
        return bench.prefix() + "/.inbox/" + bench.sessions(member).get(0).id() + "/";
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void recheckOfAWaitingMemberDoesNotGrowWithTheQueue(ConsulLayout layout) {
        TestMember holder = direct(layout);
        TestMember waiting = observed(layout);
        holder.queue(KEY, 1, 1);
        waiting.queue(KEY, 1, 1);
        IntStream.range(0, 20).forEach(i -> direct(layout).queue(KEY, 1, 1));
        long whole = bytesOfARecheck(waiting); // the queue has changed, so that this one reads all of it

        assertThat(bytesOfARecheck(waiting)).isLessThan(whole / 2);
    }

    private long bytesOfARecheck(TestMember member) {
        long before = front.answered();
        assertThat(member.recheck(KEY, 1, 1).permits()).isZero();
        return front.answered() - before;
    }

    /** The members make no other claim, so that nothing but the re-check can find the permit. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void recheckFindsThePermitOfAMemberThatHasCrashed(ConsulLayout layout) {
        TestMember holder = direct(layout);
        TestMember first = direct(layout);
        TestMember second = observed(layout);
        holder.queue(KEY, 1, 1);
        first.queue(KEY, 1, 1);
        second.queue(KEY, 1, 1);
        second.recheck(KEY, 1, 1);
        for (TestMember crashed : List.of(holder, first)) {
            crashed.die();
            bench.sessions(crashed).forEach(session -> probe.destroySession(session.id()));
        }

        assertThat(second.recheck(KEY, 1, 1).permits()).isEqualTo(1);
    }

    @Test
    void inboxDoesNotGrowWithTheKeysThatAreHeld() {
        TestMember a = direct(ConsulLayout.SLOTS);
        TestMember b = direct(ConsulLayout.SLOTS);
        for (int i = 1; i <= 50; i++) {
            int served = i;
            String key = "key-" + i;
            a.queue(key, 1, 1);
            b.queue(key, 1, 1);
            a.keep(key, 1, 0);
            await().until(() -> b.grants().size() == served);
        }

        await().untilAsserted(() -> assertThat(notices(b)).hasSizeLessThanOrEqualTo(16));

        assertThat(bench.slots("key-1")).isEqualTo(1);
        IntStream.rangeClosed(1, 50)
                .forEach(i -> assertThat(b.keep("key-" + i, 1, 1).permits()).isEqualTo(1));
        assertThat(b.grants()).hasSize(50);
    }

    /** Such as after a long time in which the blocking query did not reach Consul. */
    @Test
    void inboxThatIsLongerThanTheLongestAnswerIsEmptiedAndWatchedAgain() {
        TestMember a = direct(ConsulLayout.SLOTS);
        TestMember b = direct(ConsulLayout.SLOTS);
        a.queue(KEY, 1, 1);
        b.queue(KEY, 1, 1);
        String inbox = inbox(b);
        for (int i = 0; i < 11; i++) {
            assertThat(probe.put("kv/" + inbox + "long-" + i, "x".repeat(400_000)))
                    .isEqualTo(200);
        }

        await().untilAsserted(() -> assertThat(notices(b)).isEmpty());

        a.keep(KEY, 1, 0);
        await().until(() -> b.grants(KEY).size() == 1 || b.changes() > 0);
        assertThat(b.queue(KEY, 1, 1).permits()).isEqualTo(1);
    }
}
