package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the further examples of {@code docs/tenants.md} say. */
@Timeout(60)
class TenantExamplesTest {

    private static PermitRequest now(String key, int permits) {
        return PermitRequest.builder(key).permits(permits).withoutWaiting().build();
    }

    @Test
    void plansHaveTheirLimitsWithinTheTotal() {
        local().withPropertyValues(
                        "distributed-permit.permits[premium-*].limit=10",
                        "distributed-permit.permits[premium-*].within=report-export",
                        "distributed-permit.permits[free-*].limit=3",
                        "distributed-permit.permits[free-*].within=report-export",
                        "distributed-permit.permits.report-export.limit=20")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    Permit premium = permits.named("premium-1").acquire(now("premium-1", 10));
                    Permit free = permits.named("free-2").acquire(now("free-2", 3));
                    assertThat(permits.tryAcquire("premium-1")).isEmpty();
                    assertThat(permits.tryAcquire("free-2")).isEmpty();
                    assertThatExceptionOfType(PermitRejectedException.class)
                            .isThrownBy(() -> permits.named("premium-3").acquire(now("premium-3", 8)))
                            .satisfies(rejected -> assertThat(rejected.name()).isEqualTo("report-export"));
                    Permit rest = permits.named("premium-3").acquire(now("premium-3", 7));
                    rest.release();
                    free.release();
                    premium.release();
                    assertThat(permits.state("report-export").inUse()).isZero();
                });
    }

    @Test
    void batchesLeaveTheReserve() {
        local().withBean(Api.class).run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit batches = permits.named("batch").acquire(now("batch", 80));
            assertThat(permits.tryAcquire("batch")).isEmpty();
            Permit others = permits.named("api").acquire(now("api", 20));
            assertThat(permits.tryAcquire("api")).isEmpty();
            others.release();
            context.getBean(Api.class).call();
            batches.release();
            context.getBean(Api.class).batch();
        });
    }

    @Test
    void noMoreThanTenBeginInTheMinimumTime() {
        local().withBean(Mailing.class)
                .withPropertyValues(
                        "distributed-permit.permits.mailing.hold-at-least=1h") // of a machine that stands still, too
                .run(context -> {
                    for (int i = 0; i < 10; i++) {
                        context.getBean(Mailing.class).start();
                    }
                    assertThat(context.getBean(Permits.class).tryAcquire("mailing"))
                            .isEmpty();
                });
    }

    static class Api {

        @DistributedPermit(key = "api", limit = 100)
        public void call() {}

        @DistributedPermit(key = "batch", limit = 80, within = "api")
        public void batch() {}
    }

    static class Mailing {

        @DistributedPermit(key = "mailing", limit = 10, holdAtLeast = "1s")
        public void start() {}
    }
}
