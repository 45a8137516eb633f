package com.example.reports;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The whole application without its store. */
@Timeout(60)
@SpringBootTest
@AutoConfigureDistributedPermit
class ReportServiceTest {

    @Autowired
    ReportService service;

    @Autowired
    Permits permits;

    @Autowired
    List<PermitBackend> backends;

    @Test
    void configuredBackendIsReplaced() {
        assertThat(backends).singleElement().isInstanceOf(LocalPermitBackend.class);
    }

    @Test
    void exportUsesThePermitOfItsTenant() {
        service.export("a", () -> assertThat(permits).ofKey("tenant-a").holds(1));
        service.export("b", () -> {});

        assertThat(permits).ofName("export").wasCalledWithKeys("tenant-a", "tenant-b");
        assertThat(permits).wasCalledWithKey("tenant-a").hasRejected(0).hasReleasedAll();
    }

    @Test
    void noMoreThanTwoExportsOfATenantRunAtTheSameTime() {
        List<CompletableFuture<String>> calls = IntStream.range(0, 6)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> service.export("a", () -> {})))
                .toList();
        calls.forEach(CompletableFuture::join);

        assertThat(permits).holdsAtMost(2).hasReleasedAll().wasCalledTimes(6);
    }

    @Test
    void asynchronousWorkHoldsItsPermitUntilItEnds() {
        CompletableFuture<String> report = new CompletableFuture<>();
        CompletableFuture<String> first = service.later(report);
        CompletableFuture<String> second = service.later(report);
        await().untilAsserted(() -> assertThat(permits).ofKey("later").holds(1).hasWaiting(1));

        report.complete("done");
        assertThat(first.join() + second.join()).isEqualTo("donedone");
        assertThat(permits).holdsAtMost(1);
        assertThat(permits).hasReleasedAll();
    }

    @Test
    void callThatJoinsAPermitIsNotCountedTwice() {
        PermitRequest inner = PermitRequest.builder("archive").reentrant().build();
        permits.run(
                "archive",
                () -> permits.named("archive")
                        .run(inner, () -> assertThat(permits).holds(1)));
        assertThat(permits).holdsAtMost(1).wasCalledTimes(2).hasReleasedAll();
    }

    @Test
    void cancelledCallWaitsNoMore() {
        CompletableFuture<String> report = new CompletableFuture<>();
        CompletableFuture<String> first = service.later(report);
        CompletableFuture<String> second = service.later(report);
        await().untilAsserted(() -> assertThat(permits).ofKey("later").holds(1).hasWaiting(1));
        second.cancel(true);
        await().untilAsserted(() -> assertThat(permits).ofKey("later").holds(1).hasWaiting(0));
        report.complete("done");
        first.join();
        assertThat(permits).hasReleasedAll();
    }

    @Test
    void permitThatLeaksIsReportedWithThePlaceThatTookIt() throws InterruptedException {
        try (Permit leaked = service.leak()) {
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> assertThat(permits).hasReleasedAll())
                    .withMessageContaining("key 'archive'")
                    .withMessageContaining("com.example.reports.ReportService.leak");
            assertThat(leaked.isHeld()).isTrue();
        }
        assertThat(permits).hasReleasedAll();
    }

    @Test
    void everyTestMethodSeesItsOwnCallsOnly() throws InterruptedException {
        assertThat(permits).wasNotCalled();
        assertThat(service.archive()).isEqualTo("archived");
        assertThat(permits).wasCalledTimes(1);
    }
}
