package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitMetricsAutoConfiguration;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import reactor.core.publisher.Mono;

/** Groups of annotated methods. */
@Timeout(60)
class FairSharesTest {

    @Test
    void groupsTakeTurnsInAllKindsOfCalls() {
        local().withBean(Exports.class)
                .withBean(SimpleMeterRegistry.class)
                .withConfiguration(AutoConfigurations.of(DistributedPermitMetricsAutoConfiguration.class))
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    Permits permits = context.getBean(Permits.class);
                    Permit held = permits.named("exports")
                            .acquire(
                                    PermitRequest.builder("exports").fairBy("a").build());
                    List<Supplier<CompletableFuture<?>>> calls = List.of(
                            () -> exports.later("a", 1),
                            () -> exports.mono("a").toFuture(),
                            () -> CompletableFuture.runAsync(() -> exports.now("a")),
                            () -> exports.later("b", 1),
                            () -> permits.named("exports")
                                    .acquireAsync(PermitRequest.builder("exports")
                                            .fairBy("b")
                                            .build())
                                    .thenAccept(permit -> {
                                        exports.served().add("b");
                                        permit.release();
                                    }));
                    List<CompletableFuture<?>> all = new ArrayList<>();
                    for (Supplier<CompletableFuture<?>> call : calls) {
                        int before = all.size();
                        all.add(call.get());
                        await().until(() -> permits.state("exports").waiting() == before + 1);
                    }
                    await().until(() -> context.getBean(SimpleMeterRegistry.class)
                                    .get("distributed.permit.fair.groups")
                                    .tag("name", "exports")
                                    .gauge()
                                    .value()
                            == 2);
                    held.release();
                    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                            .get(30, TimeUnit.SECONDS);
                    assertThat(exports.served()).containsExactly("a", "b", "a", "b", "a");
                });
    }

    @Test
    void aWeightThatIsNoneEndsTheCall() {
        local().withBean(Exports.class).run(context -> {
            Exports exports = context.getBean(Exports.class);
            assertThatThrownBy(() -> exports.later("a", 1_001).join())
                    .hasRootCauseInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("fairWeight '1001' of @DistributedPermit in this call")
                    .hasMessageContaining("1 to 1000");
        });
    }

    static class Exports {

        private final List<String> served = new CopyOnWriteArrayList<>();

        public List<String> served() {
            return served;
        }

        @DistributedPermit(key = "exports", limit = 1, fairBy = "#{#tenant}")
        public void now(String tenant) {
            served.add(tenant);
        }

        @DistributedPermit(key = "exports", limit = 1, fairBy = "#{#tenant}", fairWeight = "#{#weight}")
        public CompletableFuture<?> later(String tenant, int weight) {
            served.add(tenant);
            return CompletableFuture.completedFuture(tenant);
        }

        @DistributedPermit(key = "exports", limit = 1, fairBy = "#{#tenant}", fairWeight = "${weight:1}")
        public Mono<String> mono(String tenant) {
            return Mono.fromSupplier(() -> {
                served.add(tenant);
                return tenant;
            });
        }
    }
}
