package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.key.QueueUnderLincheck.OnlyMember;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An error of the virtual machine in an effect of an event: the next event carries out what the error has prevented. */
class PostponedEffectsTest {

    private final List<String> seen = new ArrayList<>();
    private boolean failing;
    private long now;
    private int unsendable;
    private boolean withoutClock;
    private long version;
    private @Nullable Claim claim;
    private @Nullable SentClaim sent;
    private @Nullable Future<Void> confirmation;

    private final OnlyMember member = new OnlyMember(false) {

        @Override
        public void send(Claim what, SentClaim record) {
            if (unsendable > 0) {
                unsendable--;
                withoutClock = unsendable == 0;
                throw new StackOverflowError("planted");
            }
            claim = what;
            sent = record;
        }

        @Override
        public long now() {
            if (withoutClock) {
                withoutClock = false;
                throw new StackOverflowError("planted");
            }
            return now;
        }

        @Override
        public boolean isObserved() {
            return true;
        }

        @Override
        public void claimed(boolean answered, long took) {
            if (failing) {
                failing = false;
                throw new StackOverflowError("planted");
            }
        }

        @Override
        public void lost(Grant grant) {
            seen.add("lost");
        }

        @Override
        public void stateLost() {
            seen.add("state lost");
        }

        @Override
        public void awaitReturn(Future<Void> future) {
            confirmation = future;
        }

        @Override
        public boolean trouble(KeyQueue queue, Throwable cause) {
            return true;
        }
    };

    private final PermitName permit = new PermitName(
            PermitDefinition.named("queue", "the test").limit(1).build(),
            Policy.of(
                    CoreSettings.DEFAULTS,
                    PermitSettings.builder()
                            .limit(1)
                            .release(Release.SYNC)
                            .build()
                            .orElse(PermitSettings.BASE)));
    private final KeyQueue queue = new KeyQueue("queue", permit.policy(), false, member);

    @Test
    void errorDropsNoNoticeOfALoss() {
        hold().onLoss(() -> seen.add("listener"));
        queue.changed(); // asks the store again
        failing = true;
        answer(0, 1);
        assertThat(seen).isEmpty();
        queue.check();
        assertThat(seen).containsExactly("lost", "listener");
    }

    @Test
    void errorDropsNoLostState() {
        hold();
        queue.changed();
        failing = true;
        answer(1, 2);
        assertThat(seen).isEmpty();
        queue.check();
        assertThat(seen).containsExactly("state lost");
    }

    @Test
    void errorDropsNoConfirmation() {
        Grant grant = hold();
        grant.release();
        Future<Void> returned = Objects.requireNonNull(confirmation);
        failing = true;
        answer(0, 1);
        assertThat(returned).isNotDone();
        queue.check();
        assertThat(returned).isDone();
    }

    /** The error that was to be reported as the failure of the claim strikes again. */
    @Test
    void claimThatCouldNotBeSentBlocksNoOther() {
        unsendable = 2;
        Waiter waiter = enter();
        queue.check();
        assertThat(unsendable).isZero();
        assertThat(claim).isNull();
        queue.check();
        now += permit.policy().commandTimeout() / 2; // the pause after a failed claim
        queue.check();
        answer(1, 1);
        assertThat(waiter.outcome()).isInstanceOf(Grant.class);
    }

    /** As if the error had struck on the thread that brings the answer, before the queue had any part in it. */
    @Test
    void answerThatNoEventHasReceivedIsReceivedOnceItIsOverdue() {
        Waiter waiter = enter();
        CompletableFuture<Holding> answer = new CompletableFuture<>() {
            private boolean followed;

            @Override
            public CompletableFuture<Holding> whenComplete(BiConsumer<? super Holding, ? super Throwable> action) {
                boolean again = followed;
                followed = true;
                return again ? super.whenComplete(action) : this;
            }
        };
        Objects.requireNonNull(sent).follow(answer);
        answer.complete(new Holding(1, 1, Objects.requireNonNull(claim).sequence(), ++version, 1, Holding.Others.NONE));
        queue.check();
        assertThat(waiter.outcome()).isNull();
        now += permit.policy().commandTimeout(); // the first time looks like a standstill of the process
        queue.check();
        now += permit.policy().commandTimeout();
        queue.check();
        assertThat(waiter.outcome()).isInstanceOf(Grant.class);
    }

    private Waiter enter() {
        Waiter waiter = new Waiter(permit, "queue", 1, true, now, outcome -> {});
        assertThat(queue.enter(waiter)).isTrue();
        return waiter;
    }

    private Grant hold() {
        Waiter waiter = enter();
        answer(1, 1);
        return (Grant) Objects.requireNonNull(waiter.outcome());
    }

    private void answer(int permits, long epoch) {
        Claim asked = Objects.requireNonNull(claim);
        Holding holding = new Holding(permits, 1, asked.sequence(), ++version, epoch, Holding.Others.NONE);
        SentClaim record = Objects.requireNonNull(sent);
        assertThatCode(() -> record.accept(holding, null)).doesNotThrowAnyException();
    }
}
