package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static io.github.distributedpermit.aop.Contexts.refusal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.Banner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code onReject} and {@code holdAtLeast}. */
@ExtendWith(OutputCaptureExtension.class)
class SkippedCallsTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void skippedCallReturnsNothing() {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                service.nothing();
                assertThat(service.reference()).isNull();
                assertThat(service.optional()).isEmpty();
                assertThat(service.mono().blockOptional(SOON)).isEmpty();
                assertThat(service.flux().collectList().block(SOON)).isEmpty();
                assertThat(service.future().get(30, TimeUnit.SECONDS)).isNull();
                assertThat(service.callable().call()).isNull();
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.calls()).hasValue(1); // of the method that makes the callable
            service.nothing();
            assertThat(service.calls()).hasValue(2);
        });
    }

    @Test
    void settingsWin() {
        local().withBean(Service.class)
                .withPropertyValues("distributed-permit.permits.one.on-reject=throw")
                .run(context -> {
                    try (Permit taken = context.getBean(Permits.class).acquire("one")) {
                        assertThatExceptionOfType(PermitRejectedException.class)
                                .isThrownBy(context.getBean(Service.class)::nothing);
                        assertThat(taken.isHeld()).isTrue();
                    }
                });
    }

    @Test
    void methodWithoutAnEmptyValueCannotBeSkipped() {
        assertThat(refusal(Primitive.class))
                .hasMessageContaining("count()")
                .hasMessageContaining("cannot be skipped")
                .hasMessageContaining("int");
    }

    @Test
    void scheduledMethodThatDoesNotWaitIsSkippedWithoutATrace(CapturedOutput output) {
        local().withBean(Job.class).withUserConfiguration(Scheduling.class).run(context -> {
            Job job = context.getBean(Job.class);
            await().until(() -> job.runs().get() > 2);
            try (Permit taken = context.getBean(Permits.class).acquire("job")) {
                int before = job.runs().get();
                int ticks = job.ticks().get();
                await().until(() -> job.ticks().get() > ticks + 5);
                job.run();
                assertThat(job.runs()).hasValue(before);
                assertThat(taken.isHeld()).isTrue();
            }
            await().until(() -> job.runs().get() > 5);
            assertThat(output).doesNotContain("ERROR").doesNotContain("PermitRejectedException");
        });
    }

    /** As of two instances that start together: the first of them runs its jobs still. */
    @Test
    void startUpJobThatGetsNoPermitIsSkippedAndDoesNotFailTheStart() {
        LocalPermitBackend store = new LocalPermitBackend();
        try (ConfigurableApplicationContext first = start(store)) {
            assertThat(first.getBean(Started.class).jobs)
                    .containsExactlyInAnyOrder(
                            "singleton", "listener", "refreshed", "application runner", "command line runner", "ready");
            Permit running =
                    first.getBean(Permits.class).named("start-up").acquireUninterruptibly(PermitRequest.of("start-up"));
            try (ConfigurableApplicationContext second = start(store)) {
                assertThat(second.getBean(Started.class).jobs).isEmpty();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .as("a listener to another event has a caller")
                        .isThrownBy(() -> second.publishEvent("text"));
            }
            running.release();
        }
    }

    private static ConfigurableApplicationContext start(LocalPermitBackend store) {
        return new SpringApplicationBuilder(StartUpJobs.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .initializers((GenericApplicationContext context) ->
                        context.registerBean("store", PermitBackend.class, () -> store))
                .run();
    }

    @Test
    void permitIsHeldAtLeastAsLongAsDeclared() {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            service.longJob();
            service.longJob();
            assertThat(service.calls()).hasValue(1);
            assertThat(isFree(context, "long")).isFalse();
            assertThat(service.longMono().block(SOON)).isEqualTo("done");
            assertThat(isFree(context, "long-mono")).isFalse();
        });
    }

    @Test
    void permitIsReturnedWhenItsMinimumTimeHasPassed() {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(untilFree(context, service::shortJob)).isGreaterThanOrEqualTo(Service.SHORT);
            assertThat(untilFree(context, () -> service.shortMono().block(SOON)))
                    .isGreaterThanOrEqualTo(Service.SHORT);
        });
    }

    private static Duration untilFree(ApplicationContext context, Runnable call) {
        long called = System.nanoTime();
        call.run();
        await().until(() -> isFree(context, "short"));
        return Duration.ofNanos(System.nanoTime() - called);
    }

    @Test
    void minimumHoldOfACallThatDidNotBeginDoesNotCount() {
        local().withBean(Service.class).run(context -> {
            Service service = context.getBean(Service.class);
            try (Permit taken = context.getBean(Permits.class).acquire("z-second")) {
                service.both();
                assertThat(isFree(context, "a-first")).isTrue();
                service.bothMono().block(SOON);
                assertThat(isFree(context, "a-first")).isTrue();
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(service.calls()).hasValue(0);
            service.both();
            assertThat(service.calls()).hasValue(1);
            assertThat(isFree(context, "a-first")).isFalse();
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    static class Job {

        private final AtomicInteger runs = new AtomicInteger();
        private final AtomicInteger ticks = new AtomicInteger();

        AtomicInteger runs() {
            return runs;
        }

        AtomicInteger ticks() {
            return ticks;
        }

        @Scheduled(fixedRate = 10)
        public void tick() {
            ticks.incrementAndGet();
        }

        @Scheduled(fixedRate = 10)
        @DistributedPermit(key = "job", limit = 1, block = false)
        public void run() {
            runs.incrementAndGet();
        }
    }

    static class Started {
        private final List<String> jobs = new CopyOnWriteArrayList<>();

        void add(String job) {
            jobs.add(job);
        }
    }

    /** The annotation of each of these methods. */
    @Retention(RetentionPolicy.RUNTIME)
    @DistributedPermit(key = "start-up", limit = 1, block = false)
    @interface StartUp {}

    @Configuration
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        DistributedPermitAutoConfiguration.class
    })
    @Import({Started.class, Singleton.class, Listener.class, Annotated.class, AtTheStart.class, WithItsArguments.class})
    static class StartUpJobs {}

    static class Singleton implements SmartInitializingSingleton {

        private final Started started;

        Singleton(Started started) {
            this.started = started;
        }

        @Override
        @StartUp
        public void afterSingletonsInstantiated() {
            started.add("singleton");
        }
    }

    static class Listener implements ApplicationListener<ApplicationStartedEvent> {

        private final Started started;

        Listener(Started started) {
            this.started = started;
        }

        @Override
        @StartUp
        public void onApplicationEvent(ApplicationStartedEvent event) {
            started.add("listener");
        }
    }

    static class Annotated {

        private final Started started;

        Annotated(Started started) {
            this.started = started;
        }

        @EventListener
        @StartUp
        public void refreshed(ContextRefreshedEvent event) {
            started.add("refreshed");
        }

        @EventListener(ApplicationReadyEvent.class)
        @StartUp
        public void ready() {
            started.add("ready");
        }

        @EventListener
        @StartUp
        public void text(String text) {
            started.add(text);
        }
    }

    static class AtTheStart implements ApplicationRunner {

        private final Started started;

        AtTheStart(Started started) {
            this.started = started;
        }

        @Override
        @StartUp
        public void run(ApplicationArguments arguments) {
            started.add("application runner");
        }
    }

    static class WithItsArguments implements CommandLineRunner {

        private final Started started;

        WithItsArguments(Started started) {
            this.started = started;
        }

        @Override
        @StartUp
        public void run(String... arguments) {
            started.add("command line runner");
        }
    }

    static class Primitive {
        @DistributedPermit(limit = 1, block = false, onReject = OnReject.SKIP)
        public int count() {
            return 0;
        }
    }

    static class Service {

        static final Duration SHORT = Duration.ofMillis(300);

        private final AtomicInteger calls = new AtomicInteger();

        AtomicInteger calls() {
            return calls;
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public void nothing() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public @Nullable String reference() {
            return "called " + calls.incrementAndGet();
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public Optional<String> optional() {
            return Optional.of("called " + calls.incrementAndGet());
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public Mono<String> mono() {
            return Mono.just("called " + calls.incrementAndGet());
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public Flux<String> flux() {
            return Flux.just("called " + calls.incrementAndGet());
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("called " + calls.incrementAndGet());
        }

        @DistributedPermit(key = "one", limit = 1, block = false, onReject = OnReject.SKIP)
        public Callable<String> callable() {
            calls.incrementAndGet();
            return () -> "called";
        }

        @DistributedPermit(key = "a-first", limit = 1, holdAtLeast = "1h")
        @DistributedPermit(key = "z-second", limit = 1, block = false, onReject = OnReject.SKIP)
        public void both() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "a-first", limit = 1, holdAtLeast = "1h")
        @DistributedPermit(key = "z-second", limit = 1, block = false, onReject = OnReject.SKIP)
        public Mono<String> bothMono() {
            return Mono.just("called " + calls.incrementAndGet());
        }

        @DistributedPermit(key = "long", limit = 1, block = false, onReject = OnReject.SKIP, holdAtLeast = "1h")
        public void longJob() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "long-mono", limit = 1, block = false, holdAtLeast = "1h")
        public Mono<String> longMono() {
            return Mono.just("done");
        }

        @DistributedPermit(key = "short", limit = 1, block = false, holdAtLeast = "300ms")
        public void shortJob() {
            calls.incrementAndGet();
        }

        @DistributedPermit(key = "short", limit = 1, block = false, holdAtLeast = "300ms")
        public Mono<String> shortMono() {
            return Mono.just("done");
        }
    }
}
