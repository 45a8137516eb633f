package io.github.distributedpermit.aop.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Returns that wait for the store, as with {@code release=sync} while it does not answer. The JDK has one thread for the
 * timers of the whole process, which looks at plain futures.
 */
@Timeout(60)
class FutureHoldTest {

    private final CountDownLatch returning = new CountDownLatch(1);
    private final CountDownLatch store = new CountDownLatch(1);
    private final Permit permit = mock();

    @BeforeEach
    void blockReturns() {
        doAnswer(call -> {
                    returning.countDown();
                    return store.await(30, TimeUnit.SECONDS);
                })
                .when(permit)
                .close();
    }

    @AfterEach
    void endReturns() {
        store.countDown();
    }

    @Test
    void returnOfAPlainFutureDoesNotHoldUpTheTimersOfTheProcess() throws Throwable {
        FutureTask<String> work = new FutureTask<>(() -> "done");
        Future<?> result = call(work);
        work.run();
        timersRunDuringTheReturn();
        assertThat(result.isDone()).isFalse();
        store.countDown();
        assertThat(result.get(30, TimeUnit.SECONDS)).isEqualTo("done");
    }

    @Test
    void returnOfAFutureThatCannotBeLookedAtDoesNotHoldUpTheTimersOfTheProcess() throws Throwable {
        AtomicBoolean broken = new AtomicBoolean();
        Future<?> result = call(new FutureTask<>(() -> "never") {
            @Override
            public boolean isDone() {
                if (broken.get()) {
                    throw new IllegalStateException("of the future");
                }
                return false;
            }
        });
        broken.set(true);
        timersRunDuringTheReturn();
        store.countDown();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> result.get(30, TimeUnit.SECONDS))
                .withMessageContaining("of the future");
    }

    private void timersRunDuringTheReturn() throws Exception {
        assertThat(returning.await(30, TimeUnit.SECONDS)).isTrue();
        CompletableFuture.runAsync(
                        () -> {}, CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS, Runnable::run))
                .get(30, TimeUnit.SECONDS);
    }

    private Future<?> call(Future<String> work) throws Throwable {
        Acquisition granted = new Acquisition(
                new Granted().acquireAllAsync(List.of(PermitRequest.of("key"))),
                group -> new PermitBundle(group.permits()),
                failure -> {
                    throw failure;
                });
        LimitedCall call = mock();
        when(call.acquire(null)).thenReturn(granted);
        when(call.proceed()).thenReturn(work);
        return (Future<?>) new FutureHold(new ContextCapture(List::of)).invoke(call);
    }

    private final class Granted implements Permits {

        @Override
        public NamedPermits named(String name) {
            NamedPermits named = mock();
            when(named.acquireAsync(any())).thenReturn(CompletableFuture.completedFuture(permit));
            return named;
        }
    }
}
