package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.spi.Caller;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import io.github.distributedpermit.testsupport.Logged;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;

/** What the log says in operation. */
@ExtendWith(OutputCaptureExtension.class)
class LogTest {

    @Test
    void startIsOneLineWithBackendAddressMemberAndNumberOfPermits(CapturedOutput output) {
        Starts.withBackend(new CuttableBackend())
                .withPropertyValues(
                        "distributed-permit.permits.export.limit=1", "distributed-permit.permits.import.limit=1")
                .run(context -> {
                    Member member = context.getBean(PermitEngine.class).member();
                    assertThat(output.getOut()
                                    .lines()
                                    .filter(line -> line.contains(
                                            "This instance becomes, with the first answer of the store, member")))
                            .singleElement()
                            .asString()
                            .contains(
                                    "INFO",
                                    member.name(),
                                    member.id(),
                                    "'cuttable' at store.example:4711",
                                    "2 permit(s)");
                });
    }

    /** Such as a line of a log that never was. */
    @Test
    void nameOfTheInstanceIsOneLine(CapturedOutput output) {
        String name = "a\u001b[31m\r\nERROR planted\u2028" + "x".repeat(1_000);
        Starts.local()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("name", Map.of("distributed-permit.instance-name", name))))
                .run(context -> {
                    assertThat(context.getBean(PermitEngine.class).member().name())
                            .startsWith("a?[31m??ERROR planted?xxx")
                            .hasSize(200);
                    assertThat(output.getOut().lines()).noneMatch(line -> line.startsWith("ERROR planted"));
                });
    }

    @Test
    void limitOfAnOperatorThatTheStoreHasLostIsLogged() throws Exception {
        // whether the output has what the core logs depends on the tests that ran before in this JVM
        try (RedisServer server = RedisServer.started();
                Logged logged = new Logged("io.github.distributedpermit.core.key.PermitName")) {
            Starts.plain()
                    .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
                    .withPropertyValues(
                            "distributed-permit.backend=redis",
                            "distributed-permit.lease=60s",
                            "distributed-permit.permits.export.limit=1",
                            "spring.data.redis.port=" + server.port())
                    .run(context -> {
                        PermitEngine engine = context.getBean(PermitEngine.class);
                        Permit held = engine.acquire("export");
                        engine.override("export", OverrideLimit.of(5))
                                .toCompletableFuture()
                                .join();
                        Permit second = engine.acquire("export"); // with the limit in force
                        assertThat(engine.gauges("export").orElseThrow().limit())
                                .isEqualTo(5);
                        assertThat(server.<String>ask(commands -> commands.flushall()))
                                .isEqualTo("OK");
                        // its claim comes at once; a renewal only after a third of the lease
                        CompletableFuture<Permit> waiting = engine.acquireAsync("export");
                        logged.awaitText(
                                "The limit 5 that an operator had set for key 'export' of 'export' is not in the store any more",
                                "the limit in force is 1");
                        waiting.cancel(false);
                        second.release();
                        held.release();
                    });
        }
    }

    @Test
    void shutdownSaysHowManyCallsWereRejectedAndHowManyHaveEnded() throws Exception {
        try (Logged logged = new Logged("io.github.distributedpermit.core.member.Shutdown")) {
            Starts.local()
                    .withPropertyValues(
                            "distributed-permit.permits.export.limit=2",
                            "spring.lifecycle.timeout-per-shutdown-phase=2s")
                    .run(context -> {
                        PermitEngine engine = context.getBean(PermitEngine.class);
                        Permit first = engine.acquire("export");
                        engine.acquire("export"); // its call does not end
                        List<CompletableFuture<Permit>> waiting = List.of(
                                engine.acquireAsync("export"),
                                engine.acquireAsync("export"),
                                engine.acquireAsync("export"));
                        await().until(() ->
                                engine.gauges("export").orElseThrow().waiters() == 3);
                        waiting.forEach(call -> call.whenComplete((permit, failure) -> first.release()));
                    });
            logged.awaitText("3 call(s) waited or asked, and calls held 2 permit(s)", "1 permit(s) are still in use");
        }
    }

    @Test
    void callsSayNothing(CapturedOutput output) {
        Starts.local()
                .withPropertyValues("distributed-permit.permits.export.limit=1")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    int before = output.getAll().length();
                    // other threads of the JVM, such as those of a server, may log at the same time
                    for (int i = 0; i < 100; i++) {
                        permits.acquire("export").release();
                    }
                    assertThat(output.getAll().substring(before)).doesNotContainIgnoringCase("permit");
                });
    }

    @Test
    void longWaitsAndHoldsNameWhoMakesTheCallAndAPause(CapturedOutput output) {
        Starts.local()
                .withPropertyValues(
                        "distributed-permit.permits.export.limit=2",
                        "distributed-permit.log.long-wait=400ms",
                        "distributed-permit.log.long-hold=400ms")
                .run(context -> {
                    PermitEngine engine = context.getBean(PermitEngine.class);
                    engine.describeCallersBy(method -> new Caller(
                            1,
                            Optional.of("com.example.Reports.export"),
                            new Thread("worker-7"),
                            Optional.empty(),
                            permit -> false));
                    Permits permits = context.getBean(Permits.class);
                    Permit held = permits.acquire("export");
                    engine.override("export", OverrideLimit.of(0))
                            .toCompletableFuture()
                            .get(30, TimeUnit.SECONDS);
                    CompletableFuture<Permit> waiting = permits.acquireAsync("export");
                    String who = "A call of com.example.Reports.export on thread 'worker-7' (";
                    await().until(() -> output.getOut()
                                    .contains(who + "which may do something else by now) has held permit 'export'")
                            && output.getOut()
                                    .lines()
                                    .anyMatch(line -> line.contains(who + "it is asynchronous: that thread went on)"
                                                    + " has been waiting for permit 'export'")
                                            && line.contains("An operator has paused it")));
                    waiting.cancel(false);
                    held.release();
                });
    }

    /** The gauge of the name has the limit of the key that was answered last. */
    @Test
    void aLongWaitHasTheLimitOfItsOwnKey(CapturedOutput output) {
        Starts.local()
                .withPropertyValues("distributed-permit.permits.tenant.limit=3", "distributed-permit.log.long-wait=1h")
                .run(context -> {
                    PermitEngine engine = context.getBean(PermitEngine.class);
                    NamedPermits tenant = engine.named("tenant");
                    Permit held = tenant.acquire(
                            PermitRequest.builder("full").permits(3).build());
                    CompletableFuture<Permit> waiting = tenant.acquireAsync(PermitRequest.of("full"));
                    await().until(() -> longestWait(engine).equals("full"));
                    engine.override("paused", OverrideLimit.of(0))
                            .toCompletableFuture()
                            .get(30, TimeUnit.SECONDS);
                    CompletableFuture<Permit> heldBack = tenant.acquireAsync(PermitRequest.of("paused"));
                    await().until(() -> engine.gauges("tenant").orElseThrow().limit() == 0);
                    check(engine);
                    assertThat(output.getOut()).contains("key 'full'", "; the limit is 3. Raise the limit");
                    waiting.cancel(false);
                    await().until(() -> longestWait(engine).equals("paused"));
                    held.release();
                    tenant.acquire(PermitRequest.of("full")).release();
                    check(engine);
                    assertThat(output.getOut()).contains("key 'paused'", "; the limit is 0. An operator has paused it");
                    heldBack.cancel(false);
                });
    }

    private static String longestWait(PermitEngine engine) {
        return engine.gauges("tenant")
                .flatMap(PermitGauges::longestWait)
                .map(LongestCall::key)
                .orElse("");
    }

    private static void check(PermitEngine engine) {
        new LongCallsWarning(
                        engine::gauges,
                        engine::calls,
                        engine::limitInForce,
                        new DistributedPermitProperties.Log(Duration.ofNanos(1), Duration.ZERO),
                        System::nanoTime)
                .check();
    }

    @Test
    void longWaitsAndHoldsAreWarnedAboutOnceAMinute(CapturedOutput output) {
        Starts.local()
                .withPropertyValues(
                        "distributed-permit.permits.export.limit=1",
                        "distributed-permit.log.long-wait=400ms",
                        "distributed-permit.log.long-hold=400ms")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    Permit held = permits.named("export").acquire("tenant\n42");
                    CompletableFuture<Permit> waiting =
                            permits.named("export").acquireAsync(PermitRequest.of("tenant\n42"));
                    await().until(() -> output.getOut().contains("A call has been waiting for permit 'export'")
                            && output.getOut().contains("A call has held permit 'export'"));
                    LongCallsWarning again = new LongCallsWarning(
                            () -> context.getBean(PermitEngine.class).gauges(),
                            context.getBean(PermitEngine.class)::calls,
                            context.getBean(PermitEngine.class)::limitInForce,
                            context.getBean(DistributedPermitProperties.class).log(),
                            () -> 0);
                    again.check();
                    again.check();
                    assertThat(output.getOut()).contains("key 'tenant?42'");
                    assertThat(output.getOut().lines().filter(line -> line.contains("has been waiting")))
                            .hasSize(2);
                    waiting.cancel(false);
                    held.release();
                });
    }
}
