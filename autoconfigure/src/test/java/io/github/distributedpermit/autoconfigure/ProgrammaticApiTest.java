package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What code can do with the bean {@link Permits}. */
@Timeout(60)
@ExtendWith(RedisExtension.class)
class ProgrammaticApiTest {

    private final CuttableBackend backend = new CuttableBackend();
    private final ApplicationContextRunner runner = Starts.withBackend(backend)
            .withPropertyValues("distributed-permit.permits.one.limit=1", "distributed-permit.permits.three.limit=3");

    @Test
    void requestIsMadeByABuilderThatChecksItsValues() {
        PermitRequest request = PermitRequest.builder("key")
                .permits(2)
                .timeout(Duration.ofSeconds(5))
                .build();
        assertThat(request)
                .isEqualTo(PermitRequest.of("key").withPermits(2).withTimeout(Duration.ofSeconds(5)))
                .isEqualTo(request.toBuilder().build())
                .hasSameHashCodeAs(request.toBuilder().build())
                .isNotEqualTo(request.withoutWaiting());
        assertThatIllegalArgumentException().isThrownBy(() -> PermitRequest.of(" "));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PermitRequest.builder("key").permits(0).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PermitRequest.builder("key")
                        .timeout(Duration.ofSeconds(-1))
                        .build());
    }

    @Test
    void stateOfAKeyNeedsNoThreadOfTheExecutor() {
        ExecutorService single = Executors.newSingleThreadExecutor();
        runner.withBean("distributedPermitExecutor", ExecutorService.class, () -> single)
                .run(context -> assertThat(single.submit(() -> context.getBean(Permits.class)
                                        .state("one")
                                        .limit())
                                .get(20, TimeUnit.SECONDS))
                        .isEqualTo(1));
        single.shutdownNow();
    }

    @Test
    void tryAcquireIsEmptyWhereNothingIsFreeInTime() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            NamedPermits three = permits.named("three");
            try (Permit two = three.tryAcquire(PermitRequest.builder("three")
                            .permits(2)
                            .withoutWaiting()
                            .build())
                    .orElseThrow()) {
                assertThat(two.permits()).isEqualTo(2);
                assertThat(three.tryAcquire(PermitRequest.builder("three")
                                .permits(2)
                                .withoutWaiting()
                                .build()))
                        .isEmpty();
                assertThat(three.tryAcquire(PermitRequest.builder("three")
                                .permits(2)
                                .timeout(Duration.ofMillis(20))
                                .build()))
                        .isEmpty();
            }
            try (Permit one = permits.acquire("one")) {
                assertThat(one.isHeld()).isTrue();
                assertThat(permits.tryAcquire("one", Duration.ofMillis(20))).isEmpty();
            }
            assertThat(permits.tryAcquire("one", Duration.ofSeconds(20)).map(Permit::release))
                    .isEqualTo(Optional.of(true));
        });
    }

    @Test
    void workRunsWithAPermitThatIsGivenBackWhateverHappens() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            AtomicReference<Optional<Permit>> seen = new AtomicReference<>(Optional.empty());
            permits.run("one", () -> seen.set(Permits.current("one")));
            assertThat(seen.get()).hasValueSatisfying(permit -> {
                assertThat(permit.key()).isEqualTo("one");
                assertThat(permit.isHeld()).isFalse();
            });
            boolean held =
                    permits.supply("one", () -> Permits.current().orElseThrow().isHeld());
            assertThat(held).isTrue();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> permits.call("one", () -> {
                        throw new IOException("of the work");
                    }));
            assertThat(Permits.current()).isEmpty();
            permits.run(
                    "one",
                    () -> assertThatExceptionOfType(PermitRejectedException.class)
                            .isThrownBy(() -> permits.named("one")
                                    .run(
                                            PermitRequest.builder("one")
                                                    .withoutWaiting()
                                                    .build(),
                                            () -> fail("begun"))));
            try (Permit free = permits.acquire("one")) {
                assertThat(free.isHeld()).isTrue();
            }
        });
    }

    @Test
    void interruptedCallerOfALambdaGetsAnUncheckedExceptionAndItsFlag() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(PermitInterruptedException.class)
                    .isThrownBy(() -> permits.run("one", () -> fail("begun")));
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void uninterruptibleCallGoesOnWaitingAndKeepsTheFlag() {
        runner.run(context -> {
            NamedPermits one = context.getBean(Permits.class).named("one");
            Permit first = one.acquire("one");
            CompletableFuture<Boolean> flag = new CompletableFuture<>();
            CountDownLatch started = new CountDownLatch(1);
            Thread caller = new Thread(() -> {
                started.countDown();
                try (Permit second = one.acquireUninterruptibly(PermitRequest.of("one"))) {
                    flag.complete(second.isHeld() && Thread.currentThread().isInterrupted());
                } catch (RuntimeException | Error e) {
                    flag.completeExceptionally(e);
                }
            });
            caller.start();
            started.await();
            await().until(() -> one.state("one").waiting() == 1);
            caller.interrupt();
            caller.interrupt();
            await().until(() -> !caller.isInterrupted() || flag.isDone());
            assertThat(flag).isNotDone();
            first.release();
            assertThat(flag.get(30, TimeUnit.SECONDS)).isTrue();
            caller.join();

            Thread.currentThread().interrupt();
            try (Permit idle = one.acquireUninterruptibly(PermitRequest.of("one"))) {
                assertThat(idle.isHeld()).isTrue();
            }
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    void uninterruptibleCallEndsWithItsTimeOut() {
        runner.run(context -> {
            NamedPermits one = context.getBean(Permits.class).named("one");
            try (Permit first = one.acquire("one")) {
                assertThat(first.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> one.acquireUninterruptibly(PermitRequest.builder("one")
                                .timeout(Duration.ofMillis(20))
                                .build()));
            }
        });
    }

    @Test
    void stateOfAKeyIsThatOfAllInstances(RedisServer server) {
        ApplicationContextRunner redis = Starts.plain()
                .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "spring.data.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + server.port(),
                        "distributed-permit.permits.state.limit=2");
        redis.run(here -> redis.run(there -> {
            Permits permits = here.getBean(Permits.class);
            Permits others = there.getBean(Permits.class);
            assertThat(permits.state("state")).isEqualTo(new PermitState(2, 0, 0));
            Permit one = permits.acquire("state");
            Permit two = others.acquire("state");
            CompletableFuture<Permit> waiting = others.acquireAsync("state");
            await().untilAsserted(() -> assertThat(permits.state("state")).isEqualTo(new PermitState(2, 2, 1)));
            assertThat(permits.state("state").available()).isZero();
            one.release();
            waiting.get(30, TimeUnit.SECONDS).release();
            two.release();
            await().untilAsserted(() -> assertThat(
                            others.named("state").stateAsync("state").get(30, TimeUnit.SECONDS))
                    .isEqualTo(new PermitState(2, 0, 0)));
        }));
    }

    @Test
    void storeThatDoesNotAnswerIsAFailure() {
        ApplicationContextRunner impatient = runner.withInitializer(CommandTimeout.ofMillis(100))
                .withPropertyValues("distributed-permit.defaults.store-timeout=200ms");
        impatient.run(context -> {
            Permits permits = context.getBean(Permits.class);
            await().ignoreExceptions().until(() -> permits.state("one").equals(new PermitState(1, 0, 0)));
            backend.with(CuttableBackend.Line.CUT);
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> permits.tryAcquire("one", Duration.ofSeconds(20)));
            assertThatExceptionOfType(PermitBackendException.class).isThrownBy(() -> permits.state("one"));
            backend.with(CuttableBackend.Line.BROKEN);
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> permits.state("one"))
                    .withMessageNotContaining("canary");
            backend.with(CuttableBackend.Line.SILENT);
            assertThatExceptionOfType(PermitBackendException.class)
                    .isThrownBy(() -> permits.state("one"))
                    .withMessageContaining("key 'one'")
                    .withMessageContaining("200 ms");
            @Nullable
            Throwable failure = permits.named("one")
                    .stateAsync("one")
                    .handle((state, e) -> e)
                    .get(30, TimeUnit.SECONDS);
            assertThat(failure).isInstanceOf(PermitBackendException.class);
        });
    }
}
