package io.github.distributedpermit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import io.reactivex.rxjava3.core.Single;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Controller;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Virtual threads that wait for a permit leave their carrier, whatever the method returns. */
class VirtualThreadsTest {

    private static final String PINNED = "jdk.VirtualThreadPinned";
    private static final int LIMIT = 4;
    private static final int EACH = 50;

    @TempDir
    Path folder;

    @Test
    @Timeout(120)
    void noWaitOfAnyReturnTypePinsItsCarrier() throws Exception {
        assumeThat(Runtime.version().feature())
                .as("THIS TEST IS FOR JDK 21 AND LATER, which have virtual threads; the build on JDK 25 runs it")
                .isGreaterThanOrEqualTo(21);
        AtomicReference<@Nullable PermitGauges> gauges = new AtomicReference<>();
        PermitObserver observer = new PermitObserver() {
            @Override
            public void named(PermitGauges of) {
                gauges.set(of);
            }
        };
        Contexts.local()
                .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .withUserConfiguration(AsyncMethods.class)
                .withBean(PermitObserver.class, () -> observer)
                .withBean(Service.class)
                .run(context -> {
                    Service service = context.getBean(Service.class);
                    Permits permits = context.getBean(Permits.class);
                    // classes are initialized here: a thread that waits for that is pinned, once
                    waitAndRun(service, permits, 2, gauges);
                    List<RecordedEvent> pinned;
                    try (Recording recording = new Recording()) {
                        recording.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
                        recording.start();
                        waitAndRun(service, permits, EACH, gauges);
                        pin();
                        recording.stop();
                        Path file = folder.resolve("pinned.jfr");
                        recording.dump(file);
                        // the library's own events are recorded as well
                        pinned = RecordingFile.readAllEvents(file).stream()
                                .filter(event -> event.getEventType().getName().equals(PINNED))
                                .toList();
                    }
                    assertThat(pinned).as("what is known to pin").anyMatch(event -> isIn(event, Control.class));
                    assertThat(pinned)
                            .filteredOn(event -> !isIn(event, Control.class))
                            .isEmpty();
                });
    }

    /** So many threads of each kind wait at the same time, and all get their permit then. */
    private static void waitAndRun(
            Service service, Permits permits, int each, AtomicReference<@Nullable PermitGauges> gauges)
            throws Exception {
        MockMvc mvc = MockMvcBuilders.standaloneSetup(service).build();
        List<Callable<?>> calls = List.of(
                service::value,
                () -> service.stage().get(),
                () -> service.plainFuture().get(),
                () -> service.async().get(),
                () -> service.mono().block(),
                () -> service.flux().blockLast(),
                () -> service.single().blockingGet(),
                () -> service.callable().call(),
                () -> {
                    service.streaming().writeTo(OutputStream.nullOutputStream());
                    return "";
                },
                () -> mvc.perform(get("/deferred")).andReturn(),
                () -> permits.supply("pinned", () -> "in code"),
                () -> permits.acquireAsync("pinned").get().release(),
                () -> permits.named("pinned")
                        .acquireUninterruptibly(PermitRequest.of("pinned"))
                        .release());
        List<CompletableFuture<?>> results = new ArrayList<>();
        try (Permit all = permits.named("pinned")
                .acquire(PermitRequest.builder("pinned").permits(LIMIT).build())) {
            for (int i = 0; i < each; i++) {
                calls.forEach(call -> results.add(virtually(call)));
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                PermitGauges known = gauges.get();
                return known != null && known.waiters() == results.size();
            });
            assertThat(all.isHeld()).isTrue();
        }
        CompletableFuture.allOf(results.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
    }

    private static CompletableFuture<?> virtually(Callable<?> call) {
        SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("virtual-");
        executor.setVirtualThreads(true);
        return executor.submitCompletable(call);
    }

    private static boolean isIn(RecordedEvent event, Class<?> type) {
        return event.getStackTrace() != null
                && event.getStackTrace().getFrames().stream()
                        .anyMatch(frame -> frame.getMethod().getType().getName().startsWith(type.getName()));
    }

    /** A thread that parks while a class is initialized is pinned on every JDK. */
    private static void pin() throws Exception {
        byte[] control;
        try (InputStream in = Control.class.getResourceAsStream("VirtualThreadsTest$Control.class")) {
            control = Objects.requireNonNull(in).readAllBytes();
        }
        // a new class each time, since each is initialized once
        virtually(() -> MethodHandles.lookup().defineHiddenClass(control, true)).get(60, TimeUnit.SECONDS);
    }

    private static final class Control {

        static {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncMethods {}

    @Controller
    @DistributedPermit(key = "pinned", limit = LIMIT)
    public static class Service {

        public String value() {
            return "done";
        }

        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        public Future<String> plainFuture() {
            return CompletableFuture.completedFuture("done");
        }

        @Async
        public CompletableFuture<String> async() {
            return CompletableFuture.completedFuture("done");
        }

        public Mono<String> mono() {
            return Mono.just("done");
        }

        public Flux<String> flux() {
            return Flux.just("do", "ne");
        }

        public Single<String> single() {
            return Single.just("done");
        }

        public Callable<String> callable() {
            return () -> "done";
        }

        public StreamingResponseBody streaming() {
            return out -> out.write(1);
        }

        @GetMapping("/deferred")
        @ResponseBody
        public DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            result.setResult("done");
            return result;
        }
    }
}
