package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.endpoint.PermitsView.Key;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A rolling update that raises a limit: an instance before it and one after it, on each store with servers. */
@ExtendWith(RedisExtension.class)
class DifferentLimitsTest {

    private static final String KEY = "fleet";
    private static final String LIMIT = "distributed-permit.permits.fleet.limit=";

    @Test
    void redis(RedisServer server) {
        check("spring.data.redis.port=" + server.port(), "distributed-permit.backend=redis");
    }

    @Test
    void consulSlots() {
        check(FleetEndpointTest.onConsul());
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
            check(FleetEndpointTest.onZooKeeper(server));
        }
    }

    @Test
    void database() {
        check(new TestDatabase().settings());
    }

    private static void check(String... store) {
        ApplicationContextRunner runner = FleetEndpointTest.runner(store);
        runner.withPropertyValues(LIMIT + 1)
                .run(old -> runner.withPropertyValues(LIMIT + 3).run(updated -> check(old, updated)));
    }

    private static void check(AssertableApplicationContext old, AssertableApplicationContext updated) throws Exception {
        Permits before = old.getBean(Permits.class);
        Permits after = updated.getBean(Permits.class);
        Permit first = before.acquire(KEY);
        CompletableFuture<Permit> waiting = before.acquireAsync(KEY);
        await().ignoreExceptions().until(() -> after.state(KEY).waiting() == 1);

        Permit second = after.tryAcquire(KEY).orElseThrow();
        Permit third = after.acquireAsync(KEY).get(20, TimeUnit.SECONDS);

        assertThat(after.tryAcquire(KEY)).isEmpty();
        assertThat(waiting).isNotDone();
        awaitShown(old, updated, 1, Map.of(1, 1, 3, 1));
        for (AssertableApplicationContext each : List.of(old, updated)) {
            await().untilAsserted(() -> assertThat(
                            each.getBean(PermitsEndpoint.class).events())
                    .filteredOn(event -> event.text().startsWith("Instances state different limits: 1 by "))
                    .singleElement()
                    .satisfies(event -> {
                        assertThat(event.kind()).isEqualTo("limit");
                        assertThat(event.key()).isEqualTo(KEY);
                        assertThat(event.text()).contains("; 3 by ");
                    }));
        }
        old.getBean(PermitsEndpoint.class).change(KEY, KEY, 3, null, null, null, null, null);
        awaitShown(old, updated, 0, Map.of(1, 1, 3, 1));
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(List.of(old, updated))
                        .as("shown also while the limit of the operator applies")
                        .allSatisfy(each -> assertThat(each.getBean(PermitsEndpoint.class)
                                        .permits(KEY)
                                        .permits())
                                .singleElement()
                                .satisfies(permit -> assertThat(Objects.requireNonNull(permit.fleet())
                                                .limitsDiffer())
                                        .isTrue())));
        old.getBean(PermitsEndpoint.class).lift(KEY, KEY, null);
        List.of(first, second, third).forEach(Permit::release);
        waiting.get(20, TimeUnit.SECONDS).release();
        awaitShown(old, updated, 0, null);
    }

    private static void awaitShown(
            AssertableApplicationContext one,
            AssertableApplicationContext other,
            int mixed,
            @Nullable Map<Integer, Integer> statedLimits) {
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(List.of(one, other)).allSatisfy(context -> {
                    double keys = context.getBean(MeterRegistry.class)
                            .get("distributed.permit.fleet.limits.mixed")
                            .tag("name", KEY)
                            .gauge()
                            .value();
                    assertThat(keys).isEqualTo(mixed);
                    Key key = Objects.requireNonNull(
                                    context.getBean(PermitsEndpoint.class).permit(KEY, KEY, null, null))
                            .keys()
                            .get(0);
                    assertThat(key.statedLimits()).isEqualTo(statedLimits);
                }));
    }
}
