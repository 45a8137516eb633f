package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A claim fails, and a notification shows that a later one has arrived before that one is answered, or although it never is. */
class NotifiedAfterFailureTest {

    private static final long SECOND = 1_000_000_000L;
    private static final long EPOCH = 7;

    private record Sent(Claim claim, SentClaim answers) {}

    private final List<Sent> sent = new ArrayList<>();
    private final List<Runnable> tasks = new ArrayList<>();
    private boolean answering;
    private long version = 1;
    private long now;

    private final QueueUnderLincheck.OnlyMember member = new QueueUnderLincheck.OnlyMember(false) {
        @Override
        public void send(Claim claim, SentClaim answers) {
            sent.add(new Sent(claim, answers));
            if (answering) {
                answers.accept(recorded(claim), null);
            }
        }

        @Override
        public long aliveUntil() {
            return now + 10 * SECOND; // a store with sessions, which are renewed
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
            PermitDefinition.named("queue", "the test").limit(1).build(),
            Policy.of(CoreSettings.DEFAULTS, PermitSettings.ofLimit(1).orElse(PermitSettings.BASE)));

    private final KeyQueue queue = new KeyQueue("queue", permit.policy(), false, member);

    private Holding recorded(Claim claim) {
        return new Holding(claim.counts().wanted(), 1, claim.sequence(), ++version, EPOCH, Holding.Others.NONE);
    }

    private Sent last() {
        return sent.get(sent.size() - 1);
    }

    private void pass(long nanos) {
        now += nanos;
        List<Runnable> due = List.copyOf(tasks);
        tasks.clear();
        due.forEach(Runnable::run);
    }

    @Test
    void permitGoesBackAlthoughTheClaimWasConfirmedByANotificationOnly() {
        Waiter waiter = new Waiter(permit, "queue", 1, true, now, outcome -> {});
        queue.enter(waiter);
        last().answers().accept(null, PermitStoreException.passing("no answer", null));
        pass(SECOND);
        assertThat(sent).hasSize(2);
        queue.pushed(recorded(last().claim()));
        last().answers().accept(null, PermitStoreException.passing("no answer", null));
        assertThat(waiter.outcome()).isInstanceOf(Grant.class);

        answering = true;
        Objects.requireNonNull((Grant) waiter.outcome()).release();
        for (int i = 0; i < 5; i++) {
            pass(SECOND);
        }

        assertThat(last().claim().counts().held()).isZero();
    }
}
