package com.example.reports;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** A slice: the controllers alone, with permits in memory. */
@WebMvcTest(ReportController.class)
@AutoConfigureDistributedPermit
class ReportControllerTest {

    @Autowired
    MockMvcTester mvc;

    @Autowired
    Permits permits;

    @Test
    void tooManyReportsAreAnsweredWith429() throws InterruptedException {
        mvc.get().uri("/report?tenant=a").assertThat().hasStatusOk();
        try (Permit taken = permits.named("report").acquire("report-a")) {
            assertThat(taken.isHeld()).isTrue();
            mvc.get().uri("/report?tenant=a").assertThat().hasStatus(429);
            mvc.get().uri("/report?tenant=b").assertThat().hasStatusOk();
        }
        assertThat(permits).holdsAtMost(1).hasRejected(1).hasReleasedAll();
    }
}
