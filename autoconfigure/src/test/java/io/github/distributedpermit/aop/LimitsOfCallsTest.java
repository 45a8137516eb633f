package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.PermitCatalog;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/** Limits that are made for each call. */
@Timeout(60)
class LimitsOfCallsTest {

    private final ApplicationContextRunner runner = local().withBean(Plans.class);

    @Test
    void eachTenantHasTheLimitOfItsPlan() {
        runner.run(context -> {
            Plans plans = context.getBean(Plans.class);
            List<CompletableFuture<String>> all = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                all.add(plans.exportLater("a", "premium"));
                all.add(plans.exportMono("b", "free").toFuture());
            }
            Permits permits = context.getBean(Permits.class);
            await().untilAsserted(() -> {
                assertThat(permits.named("tenant").state("tenant-a").inUse()).isEqualTo(3);
                assertThat(permits.named("tenant").state("tenant-a").limit()).isEqualTo(3);
                assertThat(permits.named("tenant").state("tenant-b").inUse()).isEqualTo(1);
            });
            assertThatThrownBy(() -> plans.exportNow("b", "free")).isInstanceOf(PermitRejectedException.class);
            assertThat(plans.exportNow("b", "premium"))
                    .as("the tenant has a new plan")
                    .isEqualTo("b");
            assertThat(permits.named("tenant")
                            .tryAcquire(PermitRequest.builder("tenant-b")
                                    .limit(1)
                                    .withoutWaiting()
                                    .build()))
                    .isEmpty();
            plans.go().complete("done");
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
        });
    }

    @Test
    void aSettingWinsOverTheExpression() {
        runner.withPropertyValues("distributed-permit.permits.tenant.limit=1").run(context -> {
            assertThat(context.getBean(Plans.class).exportNow("a", "none"))
                    .as("the expression is not asked")
                    .isEqualTo("a");
            assertThat(inUse(context)).isEqualTo(1);
        });
        runner.run(context -> {
            context.getBean(PermitCatalog.class).changeLimits(Map.of("tenant", 1));
            assertThat(inUse(context)).isEqualTo(1);
        });
    }

    @Test
    void aSettingThatIsTakenAwayWhileACallWaitsLeavesItALimit() {
        local().withBean(Teams.class).run(context -> {
            PermitCatalog catalog = context.getBean(PermitCatalog.class);
            catalog.changeLimits(Map.of("team", 2));
            Permits permits = context.getBean(Permits.class);
            PermitRequest user = PermitRequest.builder("user-a").name("user").build();
            PermitRequest team = PermitRequest.builder("team").limit(5).build();
            CompletableFuture<String> call;
            try (PermitGroup held = permits.acquireAll(List.of(user, team))) {
                assertThat(held.isHeld()).isTrue();
                call = context.getBean(Teams.class).export("a", 5);
                await().until(() -> permits.named("user").state("user-a").waiting() == 1);
                Map<String, Integer> none = new HashMap<>();
                none.put("team", null);
                catalog.changeLimits(none);
            }
            assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo("a");
        });
    }

    private static int inUse(ApplicationContext context) {
        Plans plans = context.getBean(Plans.class);
        CompletableFuture<?> one = plans.exportLater("a", "premium");
        CompletableFuture<?> two = plans.exportLater("a", "premium");
        Permits permits = context.getBean(Permits.class);
        await().until(() -> permits.named("tenant").state("tenant-a").inUse() == 1);
        await().until(() -> permits.named("tenant").state("tenant-a").waiting() == 1);
        plans.go().complete("done");
        CompletableFuture.allOf(one, two).join();
        return 1;
    }

    @Test
    void aValueThatIsNoLimitEndsTheCall() {
        runner.run(context -> {
            Plans plans = context.getBean(Plans.class);
            for (String wrong : List.of("none", "0", "1000001", "2.5")) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> plans.exportNow("a", wrong))
                        .withMessageContaining("Plans.exportNow(")
                        .withMessageContaining("limitString '" + wrong + "'")
                        .withMessageContaining("1 to 1000000");
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> context.getBean(Permits.class).named("tenant").tryAcquire("tenant-a"))
                    .withMessageContaining("has to state a limit");
        });
    }

    @Test
    void aPermitWithinOneWhoseLimitEachCallStatesNeedsBothOnTheMethod() {
        assertThat(Contexts.refusal(Nested.class))
                .hasMessageContaining("'user' lies within 'team', whose limit each call states")
                .hasMessageContaining("user within team");
    }

    @Test
    void oneNameHasLimitsOfCallsInAllItsMethodsOrInNone() {
        assertThat(Contexts.refusal(Both.class))
                .hasMessageContaining("a limit of 3")
                .hasMessageContaining("'one for each call'");
    }

    static class Plans {

        private final CompletableFuture<String> go = new CompletableFuture<>();

        public CompletableFuture<String> go() {
            return go;
        }

        @DistributedPermit(
                key = "tenant-#{#tenant}",
                name = "tenant",
                limitString = "#{#plan == 'premium' ? ${premium:3} : #plan == 'free' ? 1 : #plan}",
                block = false)
        public String exportNow(String tenant, String plan) {
            return tenant;
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limitString = "#{#plan == 'premium' ? 3 : 1}")
        public CompletableFuture<String> exportLater(String tenant, String plan) {
            return go.thenApply(done -> tenant);
        }

        @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limitString = "#{#plan == 'free' ? 1 : 3}")
        public Mono<String> exportMono(String tenant, String plan) {
            return Mono.fromFuture(go);
        }
    }

    static class Nested {

        @DistributedPermit(key = "user-#{#user}", name = "user", limit = 1, within = "team")
        public void inner(String user) {}

        @DistributedPermit(key = "team", limitString = "#{#most}")
        public void outer(int most) {}
    }

    static class Both {

        @DistributedPermit(key = "k", limit = 3)
        public void fixed() {}

        @DistributedPermit(key = "k", limitString = "#{#most}")
        public void open(int most) {}
    }

    static class Teams {

        @DistributedPermit(key = "user-#{#user}", name = "user", limit = 1, within = "team")
        @DistributedPermit(key = "team", limitString = "#{#most}")
        public CompletableFuture<String> export(String user, int most) {
            return CompletableFuture.completedFuture(user);
        }
    }
}
