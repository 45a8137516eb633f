package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnLoss;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/** What settings of a name mean for calls in code, and what such calls leave with their threads. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class CallsInCodeTest {

    private static final String NO_EFFECT = "have no effect: they are for annotated methods";

    @Test
    void blockOfTheSettingsAppliesToCallsThatDoNotSayThemselves() {
        local().withPropertyValues("distributed-permit.permits.x.limit=1", "distributed-permit.permits.x.block=false")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    try (Permit held = permits.acquire("x")) {
                        assertThat(held.isHeld()).isTrue();
                        assertRejected(() -> permits.run("x", () -> {}));
                        assertRejected(() -> permits.acquire("x"));
                        assertRejected(() -> permits.named("x").acquire("x"));
                        assertThatExceptionOfType(ExecutionException.class)
                                .isThrownBy(() -> permits.acquireAsync("x").get(30, TimeUnit.SECONDS))
                                .withCauseInstanceOf(PermitRejectedException.class);
                        CompletableFuture<Permit> waiting = permits.named("x").acquireAsync(PermitRequest.of("x"));
                        await().until(() -> permits.state("x").waiting() == 1);
                        held.release();
                        assertThat(waiting.get(30, TimeUnit.SECONDS).release()).isTrue();
                    }
                });
    }

    @Test
    void blockOfAnAnnotationIsForItsMethodOnly() {
        local().withBean(Impatient.class).run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit held = permits.acquire("impatient")) {
                CompletableFuture<Permit> waiting = permits.acquireAsync("impatient");
                await().until(() -> permits.state("impatient").waiting() == 1);
                held.release();
                assertThat(waiting.get(30, TimeUnit.SECONDS).release()).isTrue();
            }
        });
    }

    @Test
    void settingsThatAreForAnnotatedMethodsAreWarnedAboutWhereOnlyCodeUsesTheName(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(
                "distributed-permit.permits.used-by-code.limit=1",
                "distributed-permit.permits.used-by-code.on-reject=skip",
                "distributed-permit.permits.used-by-code.hold-at-least=3s",
                "distributed-permit.permits.impatient.on-reject=throw",
                "distributed-permit.permits[impa*].hold-at-least=1s",
                "distributed-permit.permits[tenant-*].hold-at-least=1s",
                "distributed-permit.permits.used-later.limit=1",
                "distributed-permit.permits.used-later.on-reject=skip")) {
            assertThat(context.isActive()).isTrue();
            assertThat(output.getOut().split(NO_EFFECT, -1)).hasSize(4);
            assertThat(output)
                    .contains("The setting(s) on-reject and hold-at-least of permit 'used-by-code' " + NO_EFFECT)
                    .contains("The setting(s) on-reject of permit 'used-later' " + NO_EFFECT)
                    .contains("The setting(s) hold-at-least of permit 'tenant-*' " + NO_EFFECT);
        }
    }

    /** If the call left a permit of the thread, its next park would return at once. */
    @Test
    void callThatEndsAtOnceLeavesNoWakeUpWithItsThread() {
        local().withPropertyValues("distributed-permit.permits.x.limit=1").run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit held = permits.acquire("x")) {
                FutureTask<Boolean> calls = new FutureTask<>(() -> {
                    boolean rejected = permits.tryAcquire("x").isEmpty();
                    LockSupport.park(this);
                    return rejected;
                });
                Thread thread = new Thread(calls);
                thread.start();
                await().until(() -> LockSupport.getBlocker(thread) == this || calls.isDone());
                assertThat(calls.isDone()).as("the thread went on by itself").isFalse();
                LockSupport.unpark(thread);
                assertThat(calls.get(30, TimeUnit.SECONDS)).isTrue();
                assertThat(held.isHeld()).isTrue();
            }
        });
    }

    @Test
    void lossWhileAnotherPermitIsWaitedForIsNamed() {
        local().withBean(Two.class).run(context -> {
            PermitEngine engine = context.getBean(PermitEngine.class);
            Two two = context.getBean(Two.class);
            try (Permit second = engine.acquire("x-2")) {
                FutureTask<Boolean> call = new FutureTask<>(() -> {
                    assertThatExceptionOfType(PermitInterruptedException.class)
                            .isThrownBy(two::call)
                            .withMessageContaining("Permit 'x-1' of this call was lost (onLoss = INTERRUPT)")
                            .withMessageContaining("for permit 'x-2', key 'x-2'");
                    return Thread.currentThread().isInterrupted();
                });
                new Thread(call).start();
                await().until(() -> engine.state("x-2").waiting() == 1);
                String self = engine.inspect("x-1")
                        .toCompletableFuture()
                        .get(30, TimeUnit.SECONDS)
                        .members()
                        .get(0)
                        .member();
                assertThat(engine.evict("x-1", self)).succeedsWithin(Duration.ofSeconds(30));
                assertThat(call.get(30, TimeUnit.SECONDS))
                        .as("the flag of the thread")
                        .isFalse();
                assertThat(second.isHeld()).isTrue();
            }
        });
    }

    private static void assertRejected(ThrowingCallable call) {
        assertThatExceptionOfType(PermitRejectedException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.LIMIT_REACHED));
    }

    private static ConfigurableApplicationContext start(String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(Stream.concat(Stream.of("distributed-permit.backend=local"), Stream.of(properties))
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
    }

    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        DistributedPermitAutoConfiguration.class
    })
    @Import(Impatient.class)
    static class Application {
        Application(Permits permits) {
            permits.named("used-by-code");
        }
    }

    static class Impatient {
        @DistributedPermit(key = "impatient", limit = 1, block = false)
        public void call() {}
    }

    static class Two {
        @DistributedPermit(key = "x-1", limit = 1, onLoss = OnLoss.INTERRUPT)
        @DistributedPermit(key = "x-2", limit = 1)
        public void call() {}
    }
}
