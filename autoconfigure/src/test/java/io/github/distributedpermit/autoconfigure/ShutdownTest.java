package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.PermitBackend;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ShutdownTest {

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final LocalPermitBackend store = new LocalPermitBackend();
    private final ApplicationContextRunner runner =
            plain().withBean("store", PermitBackend.class, () -> store).withBean(Service.class);

    @AfterEach
    void stop() throws InterruptedException {
        executor.shutdownNow();
        assertThat(executor.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void waitingCallsAreRejectedAndRunningOnesFinish() {
        runner.run(other -> runner.run(context -> {
            Service service = context.getBean(Service.class);
            PermitEngine engine = context.getBean(PermitEngine.class);
            Future<String> running = executor.submit(service::export);
            service.begun().await();
            Future<String> waiting = executor.submit(service::export);
            await().until(() -> engine.inspect("export").toCompletableFuture().get().members().stream()
                    .anyMatch(member -> member.waiting()));

            Future<?> closing = executor.submit(context.getSourceApplicationContext()::close);

            assertThat(failure(waiting))
                    .isInstanceOfSatisfying(
                            PermitRejectedException.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Reason.SHUTTING_DOWN));
            assertThat(running).isNotDone();
            assertThat(closing).as("waits for the running call").isNotDone();
            Permits elsewhere = other.getBean(Permits.class);
            assertThat(elsewhere.tryAcquire("export")).isEmpty();

            service.end().countDown();
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            closing.get(20, TimeUnit.SECONDS);
            assertThat(elsewhere.tryAcquire("export")).hasValueSatisfying(Permit::release);
        }));
    }

    /** As the drain of a web server waits for its requests. One of them waits for a permit, and later takes another one. */
    @Test
    void requestsThatTheWebServerDrainsGetPermitsAsBefore() {
        Drain drain = new Drain();
        patient().withBean(Drain.class, () -> drain).run(context -> {
            Service service = context.getBean(Service.class);
            Future<String> running = executor.submit(service::export);
            service.begun().await();
            Future<String> request = executor.submit(() -> service.export() + service.other());
            awaitWaiting(context);
            drain.requests = request;

            Future<?> closing = executor.submit(context.getSourceApplicationContext()::close);

            assertThat(drain.begun.get(30, TimeUnit.SECONDS)).isTrue();
            assertThat(request).isNotDone();
            service.end().countDown();
            assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(request.get(30, TimeUnit.SECONDS)).isEqualTo("donedone");
            closing.get(30, TimeUnit.SECONDS);
        });
    }

    /** A scheduler and the containers of message listeners have the highest phase, as a bean without another one. */
    @Test
    void jobInProgressGetsPermitsAsBefore() {
        Drain scheduler = new Drain() {
            @Override
            public int getPhase() {
                return DEFAULT_PHASE;
            }
        };
        patient().withBean(Drain.class, () -> scheduler).run(context -> {
            Service service = context.getBean(Service.class);
            executor.submit(service::export);
            service.begun().await();
            Future<String> job = executor.submit(service::export);
            awaitWaiting(context);
            scheduler.requests = job;

            Future<?> closing = executor.submit(context.getSourceApplicationContext()::close);

            assertThat(scheduler.begun.get(30, TimeUnit.SECONDS)).isTrue();
            service.end().countDown();
            assertThat(job.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            closing.get(30, TimeUnit.SECONDS);
        });
    }

    /** The drain ends without the request, as its time-out makes it. */
    @Test
    void requestThatStillWaitsWhenTheWebServerHasDrainedIsRejected() {
        Drain drain = new Drain();
        runner.withBean(Drain.class, () -> drain).run(context -> {
            Service service = context.getBean(Service.class);
            executor.submit(service::export);
            service.begun().await();
            Future<String> request = executor.submit(service::export);
            awaitWaiting(context);

            Future<?> closing = executor.submit(context.getSourceApplicationContext()::close);

            assertThat(failure(request))
                    .isInstanceOfSatisfying(
                            PermitRejectedException.class,
                            rejected -> assertThat(rejected.reason()).isEqualTo(Reason.SHUTTING_DOWN));
            service.end().countDown();
            closing.get(30, TimeUnit.SECONDS);
        });
    }

    @Test
    void preDestroyMethodsGetFreePermits() {
        Flushed flushed = new Flushed();
        runner.withBean(Flushed.class, () -> flushed)
                .withBean(Flush.class)
                .withBean(FlushInCode.class)
                .run(other -> runner.run(context -> {
                    other.getSourceApplicationContext().close();
                    assertThat(flushed.results).containsExactlyInAnyOrder("done", "in code");
                    assertThat(context.getBean(Permits.class).tryAcquire("other"))
                            .as("the permits were returned")
                            .hasValueSatisfying(Permit::release);
                }));
    }

    /** A minimum hold of an hour: a shutdown that waited for it would end with its time-out of ten minutes. */
    @Test
    void jobThatHasEndedDoesNotHoldUpTheShutdown() {
        ApplicationContextRunner patient = patient();
        patient.run(other -> patient.run(context -> {
            context.getBean(Service.class).shortJob();
            Permits elsewhere = other.getBean(Permits.class);
            assertThat(elsewhere.tryAcquire("job")).isEmpty();

            Future<?> closing = executor.submit(context.getSourceApplicationContext()::close);

            closing.get(30, TimeUnit.SECONDS);
            assertThat(elsewhere.tryAcquire("job")).hasValueSatisfying(Permit::release);
        }));
    }

    @Test
    void callsAfterTheStopAreRejected() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            context.getSourceApplicationContext().close();
            assertThat(failure(executor.submit(() -> permits.acquire("export"))))
                    .isInstanceOf(PermitRejectedException.class);
        });
    }

    @Test
    void closedApplicationLeavesNoThreadBehind() {
        // Applications of other tests may live in this JVM.
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        runner.run(context -> context.getBean(Permits.class)
                .acquireAsync("export")
                .get(30, TimeUnit.SECONDS)
                .release());
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .noneMatch(name ->
                        name.startsWith("distributed-permit-timer") || name.startsWith("distributed-permit-callback")));
    }

    @Test
    void waitingCallsAreRejectedBetweenTheDrainAndTheStopOfTheWebServerAndTheStoreIsLeftAfterIt() {
        runner.run(context -> {
            int rejection = context.getBean("distributedPermitQueueEnd", SmartLifecycle.class)
                    .getPhase();
            int membership = context.getBean(StoreMembership.class).getPhase();
            assertThat(rejection)
                    .isLessThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE)
                    .isGreaterThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
            assertThat(membership)
                    .isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE)
                    .isGreaterThan(new LettuceConnectionFactory().getPhase());
        });
    }

    @Test
    void pauseOfTheContextLeavesPermitsAlone() {
        runner.run(context -> {
            context.getSourceApplicationContext().pause();
            context.getSourceApplicationContext().restart();
            assertThat(context.getBean(Permits.class).tryAcquire("export")).hasValueSatisfying(Permit::release);
        });
    }

    private static Throwable failure(Future<?> call) throws Exception {
        try {
            call.get(30, TimeUnit.SECONDS);
            throw new AssertionError("The call went through");
        } catch (ExecutionException e) {
            return java.util.Objects.requireNonNull(e.getCause());
        }
    }

    /** With a time-out of the shutdown that no test reaches. */
    private ApplicationContextRunner patient() {
        return runner.withConfiguration(AutoConfigurations.of(LifecycleAutoConfiguration.class)) // reads the time-out
                .withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=10m");
    }

    private static void awaitWaiting(ApplicationContext context) {
        PermitEngine engine = context.getBean(PermitEngine.class);
        await().until(() -> engine.inspect("export").toCompletableFuture().get().members().stream()
                .anyMatch(member -> member.waiting()));
    }

    /** Stops when Boot's graceful shutdown does, and waits for its requests. */
    static class Drain implements SmartLifecycle {
        private final CompletableFuture<Boolean> begun = new CompletableFuture<>();
        private volatile Future<?> requests = CompletableFuture.completedFuture(true);
        private volatile boolean running;

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            begun.complete(true);
            try {
                requests.get(30, TimeUnit.SECONDS);
            } catch (Exception e) {
                // the test sees what has become of the request
            }
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE;
        }
    }

    static class Flushed {
        private final List<String> results = new CopyOnWriteArrayList<>();
    }

    /** Made before the permits, which its own methods need only when it is destroyed. */
    record Flush(Service service, Flushed flushed) implements DisposableBean {

        @Override
        public void destroy() {
            flushed.results.add(service.other());
        }
    }

    record FlushInCode(Permits permits, Flushed flushed) implements DisposableBean {

        @Override
        public void destroy() {
            flushed.results.add(permits.supply("export", () -> "in code"));
        }
    }

    static class Service {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch end = new CountDownLatch(1);

        CountDownLatch begun() {
            return begun;
        }

        CountDownLatch end() {
            return end;
        }

        @DistributedPermit(key = "job", limit = 1, block = false, holdAtLeast = "1h")
        public void shortJob() {
            // ends at once
        }

        @DistributedPermit(key = "other", limit = 1)
        public String other() {
            return "done";
        }

        @DistributedPermit(key = "export", limit = 1)
        public String export() throws InterruptedException {
            begun.countDown();
            end.await();
            return "done";
        }
    }
}
