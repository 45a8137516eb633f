package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.TestDatabase;
import io.github.distributedpermit.endpoint.PermitsView.Detail;
import io.github.distributedpermit.endpoint.PermitsView.Paused;
import io.github.distributedpermit.endpoint.PermitsView.Summary;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Two instances of one application and a fresh one of another on each store with servers: pauses of all calls of a name, and of an application. */
@ExtendWith(RedisExtension.class)
@Execution(ExecutionMode.CONCURRENT) // each has a store of its own, and mostly waits for it
class FleetPauseTest {

    private static final int LIMIT = 3;

    /** A third of the default lease, and the time that a busy machine takes. */
    private static final Duration BOUND = Duration.ofSeconds(20);

    @Test
    void redis(RedisServer server) {
        check(FleetEndpointTest.onRedis(server));
    }

    @Test
    void consul() {
        check(FleetEndpointTest.onConsul());
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
        ApplicationContextRunner runner =
                FleetEndpointTest.runner(store).withPropertyValues("distributed-permit.permits.other.limit=1");
        run(runner, "one", "shop", one -> run(runner, "two", "shop", two -> check(runner, one, two)));
    }

    private static void run(ApplicationContextRunner runner, String name, String application, Consumer<Instance> test) {
        runner.withPropertyValues("distributed-permit.instance-name=" + name, "spring.application.name=" + application)
                .run(context -> {
                    Instance instance = new Instance(context);
                    try {
                        test.accept(instance);
                    } finally {
                        instance.stop();
                    }
                });
    }

    private static void check(ApplicationContextRunner runner, Instance one, Instance two) {
        for (int i = 0; i < LIMIT; i++) {
            one.call("fleet", "key");
        }
        inTime().until(() -> one.holding() == LIMIT);
        for (int i = 0; i < 5; i++) {
            two.call("fleet", "key");
        }
        inTime().until(() ->
                Integer.valueOf(5).equals(one.detail().keys().get(0).waiting()));

        long from = System.nanoTime();
        one.pause(true, "fleet", null);
        inTime().until(() -> two.isRejected("fleet", "a key that nothing has used"));
        report("The other instance paused all keys", from);
        one.endAll();
        two.call("fleet", "another new key");
        two.call("other", "other");
        inTime().until(() -> two.holding() == 1);
        await().during(Duration.ofMillis(500)).atMost(BOUND).until(() -> two.holding() == 1);
        assertThat(two.detail().waiting()).isEqualTo(6);
        for (Instance each : List.of(one, two)) {
            Summary summary = each.summary();
            assertThat(summary.limit()).isZero();
            assertThat(summary.limitSource()).isEqualTo("pause");
            Paused paused = Objects.requireNonNull(summary.paused()).get(0);
            assertThat(paused.what()).isEqualTo("permit 'fleet'");
            assertThat(paused.by()).isEqualTo("through one");
            assertThat(paused.reason()).isEqualTo("the partner is down");
            assertThat(paused.since()).isNotNull();
            assertThat(each.detail().keys()).allMatch(key -> Integer.valueOf(0).equals(key.limit()));
            assertThat(each.endpoint.events())
                    .anyMatch(event -> event.text().startsWith("All calls of permit 'fleet' are paused"));
        }

        run(runner, "fresh", "billing", fresh -> {
            fresh.call("fleet", "key");
            fresh.call("other", "of the fresh instance");
            inTime().until(() -> fresh.holding() == 1);
            assertThat(fresh.isRejected("fleet", "key")).isTrue();
            inTime().untilAsserted(() -> assertThat(
                            Objects.requireNonNull(fresh.summary().fleet()).waiting())
                    .isEqualTo(1));
        });

        from = System.nanoTime();
        two.pause(false, "fleet", null);
        inTime().until(() -> two.holding() == 1 + LIMIT + 1);
        assertThat(two.summary().paused()).isNull();
        inTime().until(() -> !one.isRejected("fleet", "one more new key"));
        report("The pause ended in both", from);
        two.endAll();

        run(runner, "three", "billing", three -> {
            three.pause(true, "fleet", "10m");
            inTime().until(() -> one.isRejected("fleet", "key"));
            three.pause(true, "fleet", "4s"); // in place of the other, and ends without this instance
        });
        inTime().until(() -> !one.isRejected("fleet", "key"));

        one.pause(true, null, null);
        inTime().until(() -> two.isRejected("fleet", "key") && two.isRejected("other", "other"));
        run(
                runner,
                "four",
                "billing",
                four -> assertThat(four.isRejected("fleet", "key")).isFalse());
        assertThat(two.summary().paused()).extracting(Paused::what).containsExactly("application 'shop'");
        two.pause(false, null, null);
        inTime().until(() -> !one.isRejected("fleet", "key"));
        assertThatExceptionOfType(InvalidEndpointRequestException.class)
                .isThrownBy(() -> one.pause(true, "no such name", null));
    }

    private static ConditionFactory inTime() {
        return await().pollInterval(Duration.ofMillis(20)).atMost(BOUND).ignoreExceptions();
    }

    private static void report(String what, long from) {
        System.getLogger(FleetPauseTest.class.getName())
                .log(System.Logger.Level.INFO, what + " after " + (System.nanoTime() - from) / 1_000_000 + " ms");
    }

    private static final class Instance {

        private final PermitsEndpoint endpoint;
        private final Permits permits;
        private final List<CompletableFuture<Permit>> calls = new ArrayList<>();

        Instance(AssertableApplicationContext context) {
            assertThat(context).hasNotFailed();
            endpoint = context.getBean(PermitsEndpoint.class);
            permits = context.getBean(Permits.class);
        }

        void pause(boolean pause, @Nullable String name, @Nullable String lasts) {
            endpoint.drain(null, null, pause, name, "the partner is down", lasts);
        }

        void call(String name, String key) {
            NamedPermits named = permits.named(name);
            calls.add(named.acquireAsync(named.request(key)));
        }

        /** Whether a call that does not wait gets no permit. */
        boolean isRejected(String name, String key) {
            NamedPermits named = permits.named(name);
            try (Permit permit = named.acquireUninterruptibly(named.request(key).withoutWaiting())) {
                return false;
            } catch (PermitRejectedException e) {
                return e.reason() == PermitRejectedException.Reason.LIMIT_REACHED;
            }
        }

        private Stream<Permit> held() {
            return calls.stream()
                    .filter(call -> call.isDone() && !call.isCompletedExceptionally())
                    .map(CompletableFuture::join)
                    .filter(Permit::isHeld);
        }

        int holding() {
            return (int) held().count();
        }

        void endAll() {
            held().toList().forEach(Permit::release);
        }

        void stop() {
            calls.forEach(call -> call.cancel(true));
            endAll();
        }

        Summary summary() {
            return endpoint.permits().permits().stream()
                    .filter(permit -> permit.name().equals("fleet"))
                    .findFirst()
                    .orElseThrow();
        }

        Detail detail() {
            return Objects.requireNonNull(endpoint.permit("fleet", null, null, null));
        }
    }
}
