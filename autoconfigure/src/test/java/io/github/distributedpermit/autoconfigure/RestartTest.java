package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.plain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.health.PermitHealthIndicator;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A context that is stopped and started again. Spring does so around a checkpoint of the process (CRaC), and with
 * {@code spring.context.checkpoint=onRefresh} makes the image before the first start.
 */
@ExtendWith(RedisExtension.class)
@Timeout(120)
class RestartTest {

    @Test
    void contextThatIsStartedAgainIsAnotherMember(RedisServer server) {
        ApplicationContextRunner runner =
                redis(server).withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=20s");
        runner.run(other -> runner.withBean(SimpleMeterRegistry.class).run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            Service service = context.getBean(Service.class);
            NamedPermits kept = context.getBean(Permits.class).named("restart");
            PermitEngine engine = context.getBean(PermitEngine.class);
            PermitEngine elsewhere = other.getBean(PermitEngine.class);
            for (int i = 0; i < 3; i++) {
                Member before = engine.member();
                assertThat(service.call(() -> members(elsewhere))).containsExactly(before.id());

                application.stop();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> kept.acquire("restart"))
                        .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.SHUTTING_DOWN));
                await().untilAsserted(() -> assertThat(members(elsewhere)).isEmpty());

                application.start();
                assertThat(engine.member().id()).isNotEqualTo(before.id());
                assertThat(engine.member().name()).isEqualTo(before.name());
                try (Permit permit = kept.acquire("restart")) {
                    assertThat(permit.isHeld()).isTrue();
                    assertThat(members(elsewhere))
                            .containsExactly(engine.member().id());
                    assertThat(elsewhere.tryAcquire("restart")).isEmpty();
                    assertThat(context.getBean(MeterRegistry.class)
                                    .get("distributed.permit.holders")
                                    .tag("name", "restart")
                                    .gauge()
                                    .value())
                            .isEqualTo(1);
                    assertThat(context.getBean(PermitHealthIndicator.class)
                                    .health()
                                    .getDetails())
                            .containsEntry("memberId", engine.member().id());
                }
            }
        }));
    }

    @Test
    void permitThatIsHeldOverTheStopIsNotGivenToTheNextMember(RedisServer server) {
        ApplicationContextRunner runner = redis(server);
        runner.run(other -> runner.run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            PermitEngine engine = context.getBean(PermitEngine.class);
            Permit held = engine.acquire("restart");
            application.stop();
            application.start();
            assertThat(held.isHeld()).as("for the lease that it had").isTrue();
            assertThat(engine.tryAcquire("restart")).isEmpty();
            assertThat(other.getBean(PermitEngine.class).tryAcquire("restart")).isEmpty();
            await().until(() -> engine.tryAcquire("restart").isPresent());
            assertThat(held.isHeld()).isFalse();
            held.release();
            assertThat(engine.tryAcquire("restart"))
                    .as("the second member has it")
                    .isEmpty();
        }));
    }

    @Test
    void permitThatIsHeldOverTheStopIsLostBeforeTheLocalStoreGivesItToTheNextMember() {
        Starts.local()
                .withPropertyValues("distributed-permit.permits.restart.limit=1")
                .run(context -> {
                    ConfigurableApplicationContext application = context.getSourceApplicationContext();
                    NamedPermits permits = context.getBean(Permits.class).named("restart");
                    PermitRequest request =
                            PermitRequest.builder("restart").withoutWaiting().build();
                    Permit held = permits.acquire(request);
                    application.stop();
                    application.start();
                    try (Permit next = permits.acquire(request)) {
                        assertThat(next.isHeld()).isTrue();
                        assertThat(held.isHeld()).isFalse();
                        assertThat(held.release()).isFalse();
                    }
                });
    }

    @Test
    void minimumTimesAndRepeatedTasksGoOnAfterTheStart() {
        Starts.local().withBean(Service.class).run(context -> {
            ConfigurableApplicationContext application = context.getSourceApplicationContext();
            application.stop();
            application.start();
            context.getBean(Service.class).shortJob();
            assertThat(context.getBean(Permits.class).tryAcquire("job")).isEmpty();
            assertThat(context.getBean(RepeatedTasks.class).isRunning()).isTrue();
        });
    }

    @Test
    void imageThatIsMadeBeforeTheStartHasNoMember() {
        Joins joins = new Joins();
        plain().withBean("store", PermitBackend.class, () -> joins)
                .withBean(Service.class)
                .withBean(
                        "image",
                        SmartInitializingSingleton.class,
                        () -> () -> assertThat(joins.members)
                                .as("members in the image")
                                .isEmpty())
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(joins.members).hasSize(1);
                });
    }

    @Test
    void callBeforeTheStartJoins() {
        Joins joins = new Joins();
        plain().withBean("store", PermitBackend.class, () -> joins)
                .withBean(Early.class)
                .run(context -> {
                    assertThat(context.getBean(Early.class).held).isTrue();
                    assertThat(joins.members).hasSize(1);
                });
    }

    /** Each copy of an image goes on with the same state of every generator that was made before. */
    @Test
    void generatorOfTheIdIsMadeForEachMember() {
        MemberFactory members = new MemberFactory(Counting::new, "pod", null);
        String first = members.get().id();
        assertThat(members.get().id()).as("no state of a generator is kept").isEqualTo(first);
        assertThat(new MemberFactory("pod", null).get().id())
                .isNotEqualTo(new MemberFactory("pod", null).get().id());
    }

    private static ApplicationContextRunner redis(RedisServer server) {
        return plain().withConfiguration(
                        AutoConfigurations.of(LifecycleAutoConfiguration.class, DataRedisAutoConfiguration.class))
                .withBean(Service.class)
                .withPropertyValues(
                        "distributed-permit.backend=redis",
                        "distributed-permit.key-prefix=restart",
                        "distributed-permit.lease=8s",
                        "distributed-permit.redis.new-server-grace=0s",
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms",
                        "spring.data.redis.port=" + server.port());
    }

    private static List<String> members(PermitEngine engine) throws Exception {
        return engine.inspect("restart").toCompletableFuture().get(30, TimeUnit.SECONDS).members().stream()
                .map(MemberState::member)
                .toList();
    }

    /** Returns other numbers each time, but always the same ones after it was made. */
    private static final class Counting extends SecureRandom {

        private static final long serialVersionUID = 1L;

        private byte next;

        @Override
        public void nextBytes(byte[] bytes) {
            Arrays.fill(bytes, next++);
        }
    }

    interface Work {
        List<String> get() throws Exception;
    }

    static class Service {
        @DistributedPermit(key = "restart", limit = 1)
        public List<String> call(Work work) throws Exception {
            return work.get();
        }

        @DistributedPermit(key = "job", limit = 1, holdAtLeast = "1h")
        public void shortJob() {}
    }

    static class Early {

        final boolean held;

        Early(Permits permits, PermitCatalog catalog) throws InterruptedException {
            catalog.define(PermitDefinition.named("early", "the test").limit(1).build());
            try (Permit permit = permits.acquire("early")) {
                held = permit.isHeld();
            }
        }
    }

    /** The local store, with the members that have joined it. */
    private static final class Joins implements PermitBackend {

        final List<Member> members = new CopyOnWriteArrayList<>();
        private final PermitBackend local = new LocalPermitBackend();

        @Override
        public String name() {
            return "joins";
        }

        @Override
        public PermitStore join(Member member, HoldingListener listener) {
            members.add(member);
            return local.join(member, listener);
        }
    }
}
