package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.Permits;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The advice around real calls, with the real engine on the local backend. */
class PermitAdviceTest {

    private final ExecutorService executor = Executors.newCachedThreadPool();

    @AfterEach
    void stop() throws InterruptedException {
        executor.shutdownNow();
        assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void neverMoreCallsThanTheLimitRunAtOnce() {
        with((service, permits) -> {
            List<Future<?>> calls = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                calls.add(executor.submit(service::three));
            }
            for (Future<?> call : calls) {
                call.get(30, TimeUnit.SECONDS);
            }
            assertThat(service.most().get()).isBetween(1, 3);
            assertThat(service.done().get()).isEqualTo(40);
        });
    }

    @Test
    void callThatDoesNotWaitIsRejected() {
        with((service, permits) -> {
            try (Permit taken = permits.acquire("one")) {
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(service::tryOne)
                        .satisfies(rejected -> {
                            assertThat(rejected.reason()).isEqualTo(Reason.LIMIT_REACHED);
                            assertThat(rejected.key()).isEqualTo(taken.key());
                        });
            }
            service.tryOne();
        });
    }

    @Test
    void callThatWaitedForItsTimeoutIsRejected() {
        with((service, permits) -> {
            try (Permit taken = permits.acquire("one")) {
                assertThat(taken.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(service::oneForAWhile)
                        .satisfies(rejected -> assertThat(rejected.reason()).isEqualTo(Reason.TIMED_OUT));
            }
        });
    }

    @Test
    void whatTheMethodThrowsReachesTheCallerUnchangedAndThePermitGoesBack() {
        with((service, permits) -> {
            for (Throwable thrown : List.of(
                    new IOException("checked"), new IllegalStateException("unchecked"), new AssertionError("error"))) {
                assertThatThrownBy(() -> service.fail(thrown)).isSameAs(thrown);
                assertThat(thrown.getSuppressed()).isEmpty();
                assertFree(permits, "fail");
            }
        });
    }

    @Test
    void failingReleaseHidesNeitherResultNorException() throws Throwable {
        BrokenPermits permits = new BrokenPermits();
        local().withBean("brokenPermits", Permits.class, () -> permits)
                .withBean(Service.class)
                .run(context -> {
                    Service service = context.getBean(Service.class);
                    assertThat(service.tenant("x")).isEqualTo("x");
                    IOException thrown = new IOException("mine");
                    assertThatThrownBy(() -> service.fail(thrown)).isSameAs(thrown);
                    assertThat(permits.released.get()).isEqualTo(2);
                });
    }

    @Test
    void keysOfOneNameAreLimitedApart() {
        with((service, permits) -> {
            try (Permit taken = permits.named("tenant").acquire("tenant-a")) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(service.tenant("b")).isEqualTo("b");
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(() -> service.tenant("a"));
            }
        });
    }

    @Test
    void callWithoutAKeyIsRefused() {
        with((service, permits) -> assertThatIllegalArgumentException()
                .isThrownBy(() -> service.tenant(null))
                .withMessageContaining("Service.tenant(java.lang.String)")
                .withMessageContaining("tenant-#{#tenant}"));
    }

    @Test
    void weightedCallTakesItsPermits() {
        with((service, permits) -> {
            try (Permit taken = permits.named("heavy").acquire("heavy")) {
                assertThat(taken.permits()).isEqualTo(1);
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(service::heavy);
            }
            service.heavy();
        });
    }

    @Test
    void severalPermitsAreTakenInOrderAndReturnedInReverse() {
        RecordingPermits permits = new RecordingPermits();
        local().withBean("recordingPermits", Permits.class, () -> permits)
                .withBean(Service.class)
                .run(context -> {
                    context.getBean(Service.class).several();
                    assertThat(permits.events).containsExactly("+a", "+b", "+c", "-c", "-b", "-a");
                });
    }

    @Test
    void rejectedLaterPermitGivesTheEarlierOnesBack() {
        with((service, permits) -> {
            try (Permit taken = permits.acquire("c")) {
                assertThat(taken.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(service::several);
                assertFree(permits, "a");
                assertFree(permits, "b");
            }
        });
    }

    @Test
    void interruptReachesAMethodThatDeclaresItAsItIs() {
        with((service, permits) -> {
            try (Permit taken = permits.acquire("one")) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(interrupted(service::oneInterruptibly)).isExactlyInstanceOf(InterruptedException.class);
                assertThat(interrupted(service::oneOrAnyException)).isExactlyInstanceOf(InterruptedException.class);
            }
        });
    }

    @Test
    void interruptReachesOtherMethodsUncheckedAndWithTheFlagSet() {
        with((service, permits) -> {
            try (Permit taken = permits.acquire("one")) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(interrupted(() -> {
                            try {
                                service.one();
                            } catch (PermitInterruptedException e) {
                                assertThat(Thread.currentThread().isInterrupted())
                                        .isTrue();
                                throw e;
                            }
                            return null;
                        }))
                        .isExactlyInstanceOf(PermitInterruptedException.class)
                        .hasMessageContaining("'one'")
                        .hasCauseInstanceOf(InterruptedException.class);
            }
            assertFree(permits, "one");
        });
    }

    @Test
    void interruptNamesTheKeyEscapedAndCut() {
        with((service, permits) -> {
            String forged = "x\n2026-01-01 ERROR forged line " + "y".repeat(100_000);
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch leave = new CountDownLatch(1);
            Future<?> holder = executor.submit(() -> {
                service.keyed(forged, inside, leave);
                return null;
            });
            assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(interrupted(() -> {
                        service.keyed(forged, inside, leave);
                        return null;
                    }))
                    .isExactlyInstanceOf(PermitInterruptedException.class)
                    .satisfies(e -> assertThat(e.getMessage())
                            .contains("k-x\\u000a2026")
                            .doesNotContain("\n")
                            .hasSizeLessThan(300));
            leave.countDown();
            holder.get(30, TimeUnit.SECONDS);
        });
    }

    @Test
    void callerInterruptedBeforehandTakesNoPermit() {
        with((service, permits) -> {
            Future<Boolean> call = executor.submit(() -> {
                Thread.currentThread().interrupt();
                try {
                    service.one();
                    return false;
                } catch (PermitInterruptedException e) {
                    return Thread.interrupted();
                }
            });
            assertThat(call.get(30, TimeUnit.SECONDS)).isTrue();
            assertFree(permits, "one");
        });
    }

    private interface Scenario {
        void run(Service service, Permits permits) throws Exception;
    }

    private static void with(Scenario scenario) {
        local().withBean(Service.class)
                .run(context -> scenario.run(context.getBean(Service.class), context.getBean(Permits.class)));
    }

    /** Interrupts the call while it waits, and answers what it throws. */
    private Throwable interrupted(Callable<?> call) throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<?> running = executor.submit(() -> {
            thread.complete(Thread.currentThread());
            return call.call();
        });
        Thread caller = thread.get(30, TimeUnit.SECONDS);
        await().until(() ->
                caller.getState() == Thread.State.WAITING || caller.getState() == Thread.State.TIMED_WAITING);
        caller.interrupt();
        try {
            running.get(30, TimeUnit.SECONDS);
            throw new AssertionError("The call went through");
        } catch (ExecutionException e) {
            return java.util.Objects.requireNonNull(e.getCause());
        }
    }

    private static void assertFree(Permits permits, String key) throws InterruptedException {
        Optional<Permit> permit = permits.tryAcquire(key);
        assertThat(permit).isPresent();
        permit.get().release();
    }

    static class Service {
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final AtomicInteger done = new AtomicInteger();

        AtomicInteger most() {
            return most;
        }

        AtomicInteger done() {
            return done;
        }

        @DistributedPermit(key = "three", limit = 3)
        public void three() {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            Thread.yield();
            running.decrementAndGet();
            done.incrementAndGet();
        }

        @DistributedPermit(key = "one", limit = 1)
        public void one() {}

        @DistributedPermit(key = "one", limit = 1)
        public @Nullable Void oneInterruptibly() throws InterruptedException {
            return null;
        }

        @DistributedPermit(key = "one", limit = 1)
        public @Nullable Void oneOrAnyException() throws Exception {
            return null;
        }

        @DistributedPermit(key = "one", limit = 1, block = false)
        public void tryOne() {}

        @DistributedPermit(key = "one", limit = 1, timeout = "50ms")
        public void oneForAWhile() {}

        @DistributedPermit(key = "fail", limit = 1)
        public void fail(Throwable thrown) throws Throwable {
            throw thrown;
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 1, block = false)
        public @Nullable String tenant(@Nullable String tenant) {
            return tenant;
        }

        @DistributedPermit(key = "k-#{#text}", name = "keyed", limit = 1)
        public void keyed(String text, CountDownLatch inside, CountDownLatch leave) {
            inside.countDown();
            try {
                leave.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @DistributedPermit(key = "heavy", limit = 2, permits = 2, block = false)
        public void heavy() {}

        @DistributedPermit(key = "a", limit = 1)
        @DistributedPermit(key = "b", limit = 1)
        @DistributedPermit(key = "c", limit = 1, block = false)
        public void several() {}
    }
}
