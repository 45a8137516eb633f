package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitToken;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InterruptOnLossTest {

    private final LosablePermit permit = new LosablePermit();
    private final Queue<Runnable> looks = new ArrayDeque<>();
    private final InterruptOnLoss interrupt = new InterruptOnLoss((task, millis) -> looks.add(task));

    @AfterEach
    void clear() {
        Thread.interrupted();
    }

    @Test
    void interruptThatTheMethodHasNotReactedToIsCleared() {
        lose();
        look();
        interrupt.end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void interruptThatComesAfterTheReactionStays() {
        lose();
        assertThat(Thread.interrupted()).isTrue();
        look();
        Thread.currentThread().interrupt();
        interrupt.end();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(looks).isEmpty();
    }

    @Test
    void interruptThatCameBeforeTheLossStays() {
        Thread.currentThread().interrupt();
        lose();
        interrupt.end();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    /** So that a call whose wait it ends restores it. */
    @Test
    void reactionToAnInterruptThatCameBeforeTheLossIsNoneToTheLoss() {
        Thread.currentThread().interrupt();
        lose();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupt.reacted()).isNull();
    }

    @Test
    void reactionToTheInterruptOfTheLossNamesThePermit() {
        lose();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupt.reacted()).isSameAs(permit);
    }

    @Test
    void threadIsNotLookedAtOnceTheCallHasEnded() {
        lose();
        interrupt.end();
        look();
        assertThat(looks).isEmpty();
    }

    private void lose() {
        interrupt.follow(permit);
        permit.listeners.forEach(Runnable::run);
    }

    private void look() {
        Objects.requireNonNull(looks.poll()).run();
    }

    private static final class LosablePermit implements Permit {

        final List<Runnable> listeners = new ArrayList<>();

        @Override
        public String name() {
            return "name";
        }

        @Override
        public String key() {
            return "key";
        }

        @Override
        public int permits() {
            return 1;
        }

        @Override
        public PermitToken token() {
            return new PermitToken(1, 1);
        }

        @Override
        public boolean isHeld() {
            return false;
        }

        @Override
        public void onLoss(Runnable listener) {
            listeners.add(listener);
        }

        @Override
        public boolean release() {
            return false;
        }
    }
}
