package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keys that an operator deletes, in whole or in part, while the session and the inbox of their holder are intact. */
class DeletedKeysTest {

    /** A third of the TTL is 3.3 s. */
    private static final Duration SOON = Duration.ofSeconds(15);

    private static final String FLAGS = "?flags=16210313421097356768";

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final Bench bench = new Bench(SharedConsul.get().address(), probe);

    @AfterEach
    void leave() {
        bench.close();
    }

    private TestMember member(ConsulLayout layout) {
        return bench.member(bench.settings(layout, Bench.REQUEST_TIMEOUT));
    }

    private void delete(String name) {
        probe.deleteTree(bench.prefix() + "/" + name);
    }

    private static List<Integer> notices(TestMember member, String key) {
        return member.grants(key).stream().map(Holding::permits).toList();
    }

    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void holderIsNotifiedOfTheLossAndWhatWasGivenToOthersStaysTheirs(ConsulLayout layout) {
        TestMember a = member(layout);
        TestMember b = member(layout);
        a.queue("whole", 1, 1);
        a.queue("kept", 1, 1);
        delete("whole");
        assertThat(b.queue("whole", 1, 1).permits()).isEqualTo(1);

        await().atMost(SOON).untilAsserted(() -> assertThat(notices(a, "whole")).containsExactly(0));

        assertThat(a.losses()).isZero();
        assertThat(notices(a, "kept")).isEmpty();
        assertThat(b.attempt("kept", 1, 1).permits()).isZero();
        assertThat(a.keep("whole", 1, 0).permits()).isZero();
        assertThat(member(layout).attempt("whole", 1, 1).permits()).isZero();
        assertThat(b.keep("whole", 1, 1).permits()).isEqualTo(1);
    }

    /** With the engine in front, as applications have it. */
    @Test
    void permitOfADeletedKeyIsNotHeldAnyMoreAndItsListenerRuns() throws Exception {
        try (TestProcess process =
                new TestProcess(new ConsulPermitBackend(bench.settings(ConsulLayout.SLOTS, Bench.REQUEST_TIMEOUT)))) {
            Permit lost = process.permits("lost", 2).acquire("lost");
            Permit kept = process.permits("kept", 2).acquire("kept");
            AtomicInteger losses = new AtomicInteger();
            lost.onLoss(losses::incrementAndGet);
            delete("lost");

            await().atMost(SOON).untilAsserted(() -> assertThat(losses).hasValue(1));

            assertThat(lost.isHeld()).isFalse();
            assertThat(kept.isHeld()).isTrue();
            lost.release(); // changes nothing
            process.permits("lost", 2).acquire("lost").release();
            kept.release();
        }
    }

    @Test
    void onlySomeOfTheSlotsAreALossOfThose() {
        TestMember a = member(ConsulLayout.SLOTS);
        a.queue("slots", 3, 3);
        a.queue("guard", 3, 2);
        delete("slots/slot_001");
        delete("guard/.line");

        await().atMost(SOON).untilAsserted(() -> assertThat(notices(a, "slots")).containsExactly(2));

        assertThat(notices(a, "guard")).isEmpty();
        assertThat(a.keep("slots", 3, 2).permits()).isEqualTo(2);
        TestMember b = member(ConsulLayout.SLOTS);
        assertThat(b.attempt("slots", 3, 1).permits()).isEqualTo(1);
        assertThat(b.attempt("guard", 3, 1).permits()).isEqualTo(1);
        assertThat(member(ConsulLayout.SLOTS).attempt("guard", 3, 1).permits()).isZero();
    }

    @Test
    void onlyAPartOfALockFileIsALossOfWhatItBacks() {
        TestMember a = member(ConsulLayout.LOCK_FILE);
        a.queue("document", 3, 2);
        a.queue("contents", 3, 2);
        a.queue("contender", 3, 2);
        delete("document/.lock");
        probe.put("kv/" + bench.tree("contents") + ".lock" + FLAGS, "{\"Limit\":3,\"Holders\":{}}");
        String session = bench.sessions(a).get(0).id();
        delete("contender/" + session);

        await().atMost(SOON).untilAsserted(() -> {
            assertThat(notices(a, "document")).containsExactly(0);
            assertThat(notices(a, "contents")).containsExactly(0);
            assertThat(notices(a, "contender")).containsExactly(1);
        });

        assertThat(a.losses()).isZero();
        assertThat(member(ConsulLayout.LOCK_FILE).attempt("document", 3, 3).permits())
                .isEqualTo(3);
    }

    /** An answer that shows as many permits as the member believes to have would hide that the first was another's. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void claimForMoreDoesNotReviveWhatWasLost(ConsulLayout layout) {
        TestMember a = member(layout);
        a.queue("more", 3, 1);
        delete("more");

        assertThat(a.queue("more", 3, 2).permits()).isEqualTo(2);

        assertThat(notices(a, "more")).containsExactly(0);
    }

    @Test
    void claimForMoreThatReadsNothingBeforeItWritesNoticesTheLossAsWell() {
        // The look at permits that are held, which would notice it as well, comes after 30 s.
        TestMember a = bench.member(bench.settings(Optional.empty(), Duration.ofSeconds(90)));
        a.queue("more", 3, 1);
        delete("more/slot_000");

        assertThat(a.queue("more", 3, 2).permits()).isEqualTo(1);

        assertThat(notices(a, "more")).containsExactly(0);
    }

    @Test
    void grantByAnotherMemberDoesNotHideTheLoss() {
        TestMember a = member(ConsulLayout.SLOTS);
        TestMember b = member(ConsulLayout.SLOTS);
        a.queue("served", 2, 1);
        b.queue("served", 2, 1);
        a.queue("served", 2, 2);
        delete("served/slot_000");

        b.keep("served", 2, 0); // and with its permit goes the one that was deleted

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(notices(a, "served")).endsWith(1));
    }

    /** Its record is written anew by its next claim, which the core makes twice a second. */
    @ParameterizedTest
    @EnumSource(ConsulLayout.class)
    void waiterWhoseRecordIsDeletedQueuesAgain(ConsulLayout layout) {
        TestMember a = member(layout);
        TestMember b = member(layout);
        a.queue("waiter", 1, 1);
        b.queue("waiter", 1, 1);
        delete("waiter/m_");

        assertThat(b.queue("waiter", 1, 1).permits()).isZero();
        a.keep("waiter", 1, 0);

        await().atMost(SOON)
                .untilAsserted(() -> assertThat(notices(b, "waiter")).containsExactly(1));
    }
}
