package io.github.distributedpermit.sample.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.sample.SampleApplication;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import reactor.core.publisher.Mono;

/** The reactive and the scheduled example, without a store. */
@SpringBootTest(
        classes = SampleApplication.class,
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {
            "distributed-permit.backend=local",
            "distributed-permit.permits.report-preview.block=false",
            "sample.clean-up.cron=-"
        })
class ExamplesTest {

    @Autowired
    private PreviewService previews;

    @Autowired
    private ReportService reports;

    @Autowired
    private CleanUpJob job;

    @Autowired
    private Permits permits;

    @Test
    void previewTakesItsPermitWhenItIsSubscribedTo() throws InterruptedException {
        Mono<Report> preview = previews.preview(7, Duration.ofMillis(1), Instant.now());
        try (Permit all = permits.named("report-preview")
                .acquire(PermitRequest.builder("report-preview").permits(5).build())) {
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> preview.block(Duration.ofSeconds(20)));
            assertThat(all.isHeld()).isTrue();
        }
        assertThat(preview.block(Duration.ofSeconds(20))).extracting(Report::id).isEqualTo(7L);
    }

    @Test
    void exportOfATenantTakesAPermitOfTheTenantAndOneOfAllExports() throws Exception {
        NamedPermits ofTenant = permits.named("tenant");
        PermitRequest both = PermitRequest.builder("tenant-a").permits(2).build();
        try (Permit tenant = ofTenant.acquire(both)) {
            assertThat(permits.state("report-export").inUse()).isEqualTo(2);
            FutureTask<Report> waiting =
                    new FutureTask<>(() -> reports.exportFor("a", 1, Duration.ofMillis(1), Instant.now()));
            new Thread(waiting).start();
            await().until(() -> ofTenant.state("tenant-a").waiting() == 1);
            assertThat(permits.state("report-export").inUse()).isEqualTo(2);
            assertThat(reports.exportFor("b", 2, Duration.ofMillis(1), Instant.now())
                            .id())
                    .isEqualTo(2);
            tenant.release();
            assertThat(waiting.get(20, TimeUnit.SECONDS).id()).isEqualTo(1);
        }
    }

    @Test
    void jobThatHasJustRunIsSkipped() throws InterruptedException {
        job.cleanUp();
        assertThat(job.runs()).isEqualTo(1);
        assertThat(permits.tryAcquire("report-clean-up")).isEmpty();
        job.cleanUp();
        assertThat(job.runs()).isEqualTo(1);
    }
}
