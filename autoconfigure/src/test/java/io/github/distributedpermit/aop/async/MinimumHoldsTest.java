package io.github.distributedpermit.aop.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.aop.async.MinimumHolds.MinimumHold;
import io.github.distributedpermit.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MinimumHoldsTest {

    /** As with {@code release=sync} while the store is away. The JDK has one such thread for the whole process. */
    @Test
    void returnThatWaitsForItsStoreDoesNotHoldUpTheTimersOfTheProcess() throws Exception {
        MinimumHolds holds = new MinimumHolds(() -> TimeSource.SYSTEM);
        CountDownLatch returning = new CountDownLatch(1);
        CountDownLatch store = new CountDownLatch(1);
        Permit permit = mock();
        when(permit.isHeld()).thenReturn(true);
        doAnswer(call -> {
                    returning.countDown();
                    return store.await(30, TimeUnit.SECONDS);
                })
                .when(permit)
                .close();
        try {
            MinimumHold held = (MinimumHold) holds.hold(permit, Duration.ofMillis(1_000));
            held.begin();
            assertThat(held.release()).isTrue();
            assertThat(returning.await(30, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Void> timer = new CompletableFuture<>();
            TimeSource.SYSTEM.schedule(() -> timer.complete(null), 1);
            timer.get(30, TimeUnit.SECONDS);
        } finally {
            store.countDown();
        }
    }

    @Test
    void permitComesBackAlthoughItsMinimumCannotBeFound() {
        AtomicInteger looks = new AtomicInteger();
        MinimumHolds holds = new MinimumHolds(() -> {
            if (looks.incrementAndGet() > 1) {
                throw new StackOverflowError("planted");
            }
            return TimeSource.SYSTEM;
        });
        Permit permit = mock();
        MinimumHold held = (MinimumHold) holds.hold(permit, Duration.ofHours(1));
        held.begin();
        assertThatThrownBy(held::release).isInstanceOf(StackOverflowError.class);
        verify(permit).release();
    }

    @Test
    void movedClockReturnsThePermitBeforeItGoesOn() {
        List<Runnable> due = new ArrayList<>();
        MinimumHolds holds = new MinimumHolds(() -> new TimeSource() {
            @Override
            public long nanoTime() {
                return 0;
            }

            @Override
            public Runnable schedule(Runnable task, long delayNanos) {
                due.add(task);
                return () -> due.remove(task);
            }
        });
        Permit permit = mock();
        MinimumHold held = (MinimumHold) holds.hold(permit, Duration.ofHours(1));
        held.begin();
        held.release();
        due.forEach(Runnable::run);
        verify(permit).close();
    }
}
