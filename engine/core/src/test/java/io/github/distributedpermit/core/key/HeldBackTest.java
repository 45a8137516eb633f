package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls that are held back go on whatever goes wrong, in the order in which they came. */
class HeldBackTest {

    private PauseState pause = PauseState.NONE;
    private int found;
    private long changes;
    private Admission admission = Admission.ALL;
    private long now;
    private final List<Runnable> tasks = new ArrayList<>();

    private final QueueUnderLincheck.OnlyMember member = new QueueUnderLincheck.OnlyMember(false) {
        @Override
        public PauseState pause(PermitName permit) {
            return pause;
        }

        @Override
        public Admission admission() {
            return admission;
        }

        @Override
        public long changes() {
            return changes;
        }

        @Override
        public void findPause(PermitName permit) {
            found++;
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public Scheduler scheduler() {
            return (task, delay) -> {
                tasks.add(task);
                return () -> tasks.remove(task);
            };
        }
    };

    private final PermitName permit = new PermitName(
            PermitDefinition.named("queue", "the test")
                    .limit(QueueUnderLincheck.LIMIT)
                    .build(),
            Policy.of(
                    CoreSettings.DEFAULTS,
                    PermitSettings.ofLimit(QueueUnderLincheck.LIMIT).orElse(PermitSettings.BASE)));

    private final KeyQueue queue = new KeyQueue("queue", permit.policy(), false, member);

    private void pausesChange() {
        changes++;
        queue.check();
    }

    private Waiter call() {
        Waiter waiter = new Waiter(permit, "queue", 1, true, ++now, outcome -> {});
        queue.enter(waiter);
        return waiter;
    }

    private static boolean holds(Waiter waiter) {
        return waiter.outcome() instanceof Grant;
    }

    private static void end(Waiter waiter) {
        if (waiter.outcome() instanceof Grant grant) {
            grant.release();
        }
    }

    @Test
    void pauseThatIsStillUnknownIsAskedForAgain() {
        pause = PauseState.UNKNOWN;
        Waiter waiter = call();
        assertThat(found).isEqualTo(1);
        pausesChange();
        assertThat(found).isEqualTo(2);
        assertThat(waiter.outcome()).isNull();
    }

    @Test
    void callGoesOnAlthoughTheChangeWasNotSeen() {
        pause = PauseState.PAUSED;
        Waiter waiter = call();
        pause = PauseState.NONE;
        now += permit.policy().commandTimeout();
        List.copyOf(tasks).forEach(Runnable::run);
        assertThat(holds(waiter)).isTrue();
    }

    @Test
    void callDuringAShutdownGetsAFreePermitOnceItIsKnownThatItsNameIsNotPaused() {
        admission = Admission.WITHOUT_WAITING;
        pause = PauseState.UNKNOWN;
        Waiter waiter = call();
        pause = PauseState.NONE;
        pausesChange();
        assertThat(holds(waiter)).isTrue();
    }

    @Test
    void callsGoOnInTheOrderInWhichTheyCame() {
        List<Waiter> running = new ArrayList<>();
        for (int i = 0; i < QueueUnderLincheck.LIMIT; i++) {
            running.add(call());
        }
        assertThat(running).allMatch(HeldBackTest::holds);
        Waiter first = call();
        Waiter second = call();
        pause = PauseState.UNKNOWN;
        Waiter third = call();
        pause = PauseState.PAUSED;
        pausesChange();
        Waiter fourth = call();
        running.forEach(HeldBackTest::end);
        assertThat(List.of(first, second, third, fourth)).noneMatch(HeldBackTest::holds);

        pause = PauseState.NONE; // and a new call comes before the queue is notified of that
        Waiter fifth = call();
        List<Waiter> order = new ArrayList<>(List.of(first, second, third, fourth, fifth));
        while (!order.isEmpty()) {
            int served = (int) order.stream().takeWhile(HeldBackTest::holds).count();
            assertThat(served).isPositive();
            assertThat(order.subList(served, order.size())).noneMatch(HeldBackTest::holds);
            List<Waiter> ending = List.copyOf(order.subList(0, served));
            order.removeAll(ending);
            ending.forEach(HeldBackTest::end);
        }
    }
}
