package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.CommandTimeout;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.autoconfigure.DistributedPermitEndpointAutoConfiguration;
import io.github.distributedpermit.autoconfigure.DistributedPermitMetricsAutoConfiguration;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.endpoint.PermitsView.MemberRow;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.TestingServer;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.consul.ConsulAutoConfiguration;

/** Two instances on each store with servers: the endpoint agrees with an independent count, and its changes take effect. */
@ExtendWith(RedisExtension.class)
@Execution(ExecutionMode.CONCURRENT) // each has a store of its own, and mostly waits for it
class FleetEndpointTest {

    private static final String KEY = "fleet";
    private static final int LIMIT = 3;
    private static final int CALLS = 40;
    private static final int CHANGES = 20;

    /** Several times the five seconds after which each instance looks at the store again, since the machine may be busy. */
    private static final Duration AT_ONCE = Duration.ofSeconds(30);

    /** Long enough for the end of one instance and a look of the other. */
    private static final Duration PAUSE = Duration.ofSeconds(24);

    @Test
    void redis(RedisServer server) {
        check(onRedis(server));
    }

    @Test
    void consulSlots() {
        check(onConsul());
    }

    @Test
    void consulLockFile() {
        check(
                "spring.cloud.consul.port=" + SharedConsul.get().address().getPort(),
                "distributed-permit.backend=consul",
                "distributed-permit.consul.layout=lock-file");
    }

    @Test
    void zooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            check(onZooKeeper(server));
        }
    }

    @Test
    void database() {
        check(new TestDatabase().settings());
    }

    private static void check(String... store) {
        ApplicationContextRunner runner = runner(store);
        runner.withPropertyValues("distributed-permit.instance-name=one")
                .run(one -> runner.withPropertyValues("distributed-permit.instance-name=two")
                        .run(two ->
                                check(new Instance(one), new Instance(two), two.getSourceApplicationContext()::close)));
    }

    static String[] onRedis(RedisServer server) {
        return new String[] {
            "spring.data.redis.host=127.0.0.1",
            "spring.data.redis.port=" + server.port(),
            "distributed-permit.backend=redis"
        };
    }

    static String[] onConsul() {
        return new String[] {
            "spring.cloud.consul.port=" + SharedConsul.get().address().getPort(), "distributed-permit.backend=consul"
        };
    }

    static String[] onZooKeeper(TestingServer server) {
        return new String[] {
            "distributed-permit.backend=zookeeper",
            "distributed-permit.zookeeper.connect-string=" + server.getConnectString()
        };
    }

    static ApplicationContextRunner runner(String... store) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        PropertyPlaceholderAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        ConsulAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DistributedPermitAutoConfiguration.class,
                        DistributedPermitMetricsAutoConfiguration.class,
                        DistributedPermitEndpointAutoConfiguration.class))
                .withInitializer(CommandTimeout.ofSeconds(5))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=permits",
                        "distributed-permit.metrics.fleet-refresh=200ms",
                        "distributed-permit.permits.fleet.limit=" + LIMIT,
                        "distributed-permit.key-prefix=fleet-" + UUID.randomUUID())
                .withBean(SimpleMeterRegistry.class)
                .withPropertyValues(store);
    }

    private static void check(Instance one, Instance two, Runnable closeTwo) {
        for (int i = 0; i < CALLS; i++) {
            one.call();
            two.call();
        }
        await().ignoreExceptions().untilAsserted(() -> assertAgrees(one, two, LIMIT));
        Key key = one.key();
        assertThat(key.limitSource()).isEqualTo("settings");
        assertThat(key.calls()).hasSize(CALLS);
        atOnce().untilAsserted(() ->
                assertThat(one.key().members()).extracting(MemberRow::name).containsExactlyInAnyOrder("one", "two"));

        long from = System.nanoTime();
        two.endpoint.change("fleet", KEY, LIMIT + 4, null, null, null, null, null);
        await().pollInterval(Duration.ofMillis(5)).atMost(AT_ONCE).until(() -> one.holding() + two.holding() > LIMIT);
        report("A raised limit served calls", from);
        await().pollInterval(Duration.ofMillis(5))
                .atMost(AT_ONCE)
                .until(() -> one.holding() + two.holding() == LIMIT + 4);
        report("A raised limit served all calls that it allows", from);
        atOnce().untilAsserted(() -> assertAgrees(one, two, LIMIT + 4));
        assertThat(one.key().limitSource()).isEqualTo("override");

        one.endpoint.change("fleet", KEY, 2, null, null, null, null, null);
        drain(one, two, 2);

        atOnce().untilAsserted(() -> assertThat(one.keys("full")).isEqualTo(1));
        assertThat(one.keys("paused")).isZero();
        one.endpoint.change("fleet", KEY, 0, null, null, null, null, null);
        drain(one, two, 0);
        atOnce().untilAsserted(() -> assertThat(one.keys("paused")).isEqualTo(1));
        atOnce().untilAsserted(() -> assertThat(one.keys("full")).isZero());
        assertThat(Objects.requireNonNull(one.overrides().get(KEY)).limit()).isZero();
        assertThat(one.overrides()).isEqualTo(two.overrides());

        from = System.nanoTime();
        two.endpoint.lift("fleet", KEY, null);
        await().pollInterval(Duration.ofMillis(5)).atMost(AT_ONCE).until(() -> one.holding() + two.holding() == LIMIT);
        report("A lifted pause served calls", from);
        atOnce().untilAsserted(() -> assertAgrees(one, two, LIMIT));

        Instance holder = one.holding() > 0 ? one : two;
        Instance operator = holder == one ? two : one;
        String member = holder.endpoint.permits().instance().member();
        int had = holder.key().members().stream()
                .filter(MemberRow::self)
                .mapToInt(MemberRow::holding)
                .sum();
        PermitsView.Change taken =
                Objects.requireNonNull(operator.endpoint.change("fleet", KEY, null, member, null, null, null, null));
        assertThat(taken.evicted()).isEqualTo(had).isPositive();
        atOnce().untilAsserted(() -> assertThat(holder.lost).hasValueGreaterThanOrEqualTo(had));
        atOnce().untilAsserted(() -> assertAgrees(one, two, LIMIT));
        atOnce().untilAsserted(() -> assertThat(holder.key().calls().stream()
                        .filter(call -> call.state().equals("lost"))
                        .count())
                .as("calls that go on without their permits")
                .isEqualTo(holder.lost.get())
                .isEqualTo((long) holder.registry
                        .get("distributed.permit.running.lost")
                        .tag("name", "fleet")
                        .gauge()
                        .value()));
        atOnce().untilAsserted(() -> assertThat(holder.losses("taken")).isEqualTo(holder.lost.get()));
        assertThat(holder.losses("lost")).isZero();
        assertThat(operator.key().calls()).noneMatch(call -> call.state().equals("lost"));
        changeAtOnce(one, two);
        pauseEndsByItself(one, two, closeTwo);
        one.stop();
    }

    /** Through the instance that dies before the end. */
    private static void pauseEndsByItself(Instance one, Instance two, Runnable closeTwo) {
        two.stop();
        two.endpoint.change("fleet", KEY, 0, null, null, "maintenance of the exports", PAUSE.toSeconds() + "s", null);
        closeTwo.run();
        atOnce().untilAsserted(() -> {
            one.endAll();
            assertThat(one.key().limit()).isZero();
            assertThat(one.holding()).isZero();
        });
        PermitsView.OperatorLimit set = Objects.requireNonNull(one.key().override());
        assertThat(set.reason()).isEqualTo("maintenance of the exports");
        assertThat(set.by()).isEqualTo("through two");
        assertThat(Duration.between(Objects.requireNonNull(set.since()), Objects.requireNonNull(set.until())))
                .isEqualTo(PAUSE);
        atOnce().untilAsserted(() -> assertThat(one.endpoint.events())
                .anyMatch(event ->
                        event.key().equals(KEY) && event.text().endsWith("through two: maintenance of the exports")));

        await().atMost(PAUSE.plus(AT_ONCE))
                .untilAsserted(() -> assertThat(one.holding()).isEqualTo(LIMIT));
        assertThat(one.key().override()).isNull();
        atOnce().untilAsserted(() -> assertThat(one.endpoint.events().get(0).text())
                .isEqualTo("The limit of the operator has ended, or was lost with the data of the store"));
    }

    private static ConditionFactory atOnce() {
        return await().atMost(AT_ONCE).ignoreExceptions();
    }

    /**
     * Two operators: each change is made, and both instances show the one that was the last. The changes wait for each other, on a busy
     * machine longer than an operator has to: such a change is made again.
     */
    private static void changeAtOnce(Instance one, Instance two) {
        List<CompletableFuture<PermitsView.Change>> changes = new ArrayList<>();
        for (int i = 1; i <= CHANGES; i++) {
            int limit = i;
            for (Instance operator : List.of(one, two)) {
                changes.add(CompletableFuture.supplyAsync(() -> await().atMost(Duration.ofMinutes(2))
                        .ignoreExceptionsInstanceOf(PermitsEndpoint.StoreUnavailableException.class)
                        .until(
                                () -> operator.endpoint.change("fleet", KEY, limit, null, null, null, null, null),
                                Objects::nonNull)));
            }
        }
        changes.forEach(change -> assertThat(change).succeedsWithin(Duration.ofMinutes(3)));
        atOnce().untilAsserted(() -> assertThat(one.key().limit())
                .isBetween(1, CHANGES)
                .isEqualTo(two.key().limit()));
    }

    private static void report(String what, long from) {
        System.getLogger(FleetEndpointTest.class.getName())
                .log(System.Logger.Level.INFO, what + " after " + (System.nanoTime() - from) / 1_000_000 + " ms");
    }

    /** An instance receives a lowered limit with the answer to a claim, so that some more calls may follow those that end. */
    private static void drain(Instance one, Instance two, int limit) {
        atOnce().untilAsserted(() -> {
            if (one.holding() + two.holding() > limit) {
                one.endAll();
                two.endAll();
            }
            assertAgrees(one, two, limit);
        });
    }

    private static void assertAgrees(Instance one, Instance two, int inUse) {
        assertThat(one.holding() + two.holding()).as("counted by the calls").isEqualTo(inUse);
        for (Instance instance : List.of(one, two)) {
            Key key = instance.key();
            assertThat(key.inUse()).isEqualTo(inUse);
            assertThat(key.waiting()).as("calls that wait").isEqualTo(2 * CALLS - inUse);
            assertThat(instance.fleet("holders")).isEqualTo(inUse);
            assertThat(instance.fleet("waiters")).isEqualTo(2 * CALLS - inUse);
            assertThat(instance.fleet("members")).isEqualTo(2);
            assertThat(instance.fleet("limit")).isEqualTo(inUse);
            for (MemberRow row : key.members()) {
                Instance of =
                        row.member().equals(one.endpoint.permits().instance().member()) ? one : two;
                assertThat(row.holding()).as("holding of %s", row).isEqualTo(of.holding());
                assertThat(row.waiting()).as("waiting of %s", row).isEqualTo(CALLS - of.holding());
            }
        }
    }

    /** One application; each call holds until the test ends it, and then another takes its place. */
    private static final class Instance {

        private final PermitsEndpoint endpoint;
        private final Permits permits;
        private final MeterRegistry registry;
        private final List<Permit> held = new ArrayList<>();
        private final List<Permit> goingOn = new ArrayList<>();
        private final AtomicInteger lost = new AtomicInteger();
        private final AtomicBoolean stopped = new AtomicBoolean();

        Instance(AssertableApplicationContext context) {
            assertThat(context).hasNotFailed();
            endpoint = context.getBean(PermitsEndpoint.class);
            permits = context.getBean(Permits.class);
            registry = context.getBean(MeterRegistry.class);
        }

        void call() {
            CompletableFuture<Permit> asked =
                    permits.named("fleet").acquireAsync(permits.named("fleet").request(KEY));
            asked.thenAccept(this::got);
        }

        private void got(Permit permit) {
            synchronized (held) {
                held.add(permit);
            }
            if (stopped.get()) {
                permit.release();
                return;
            }
            permit.onLoss(() -> {
                lost.incrementAndGet();
                synchronized (held) {
                    held.remove(permit);
                    goingOn.add(permit);
                }
                again();
            });
        }

        private void again() {
            if (!stopped.get()) {
                call();
            }
        }

        int holding() {
            synchronized (held) {
                return (int) held.stream().filter(Permit::isHeld).count();
            }
        }

        /** Ends the calls that hold; as many others begin to wait. */
        void endAll() {
            List<Permit> ending;
            synchronized (held) {
                ending = List.copyOf(held);
                held.clear();
            }
            ending.forEach(permit -> {
                permit.release();
                again();
            });
        }

        /** Ends all calls, so that the application does not wait for them when it stops. */
        void stop() {
            stopped.set(true);
            endAll();
            synchronized (held) {
                goingOn.forEach(Permit::release);
            }
        }

        double losses(String cause) {
            return registry.get("distributed.permit.losses")
                    .tags("name", "fleet", "cause", cause)
                    .counter()
                    .count();
        }

        double keys(String state) {
            return registry.get("distributed.permit.fleet.keys")
                    .tags("name", "fleet", "state", state)
                    .gauge()
                    .value();
        }

        double fleet(String what) {
            return registry.get("distributed.permit.fleet." + what)
                    .tag("name", "fleet")
                    .gauge()
                    .value();
        }

        Map<String, PermitsView.OperatorLimit> overrides() {
            return endpoint.permits().permits().stream()
                    .filter(permit -> permit.name().equals("fleet"))
                    .map(PermitsView.Summary::overrides)
                    .findFirst()
                    .orElseThrow();
        }

        Key key() {
            return Objects.requireNonNull(endpoint.permit("fleet", KEY, null, null))
                    .keys()
                    .get(0);
        }
    }
}
