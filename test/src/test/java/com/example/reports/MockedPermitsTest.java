package com.example.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Permits as a mock: with the store of the application, which is not used then, and with the one in memory. */
class MockedPermitsTest {

    private static void codeGetsWhatTheMockAnswers(ReportService service, Permits permits) throws InterruptedException {
        Permit permit = mock();
        when(permit.isHeld()).thenReturn(true);
        when(permits.acquire(any(), any())).thenReturn(permit);

        assertThat(service.archive()).isEqualTo("archived");
        verify(permit).close();
    }

    private static void annotatedMethodsRun(ReportService service) {
        assertThat(service.export("a", () -> {})).isEqualTo("report of a");
        assertThat(service.later(CompletableFuture.completedFuture("done"))).isCompletedWithValue("done");
    }

    @Nested
    @SpringBootTest(properties = {"distributed-permit.backend=redis", "distributed-permit.fail-fast=true"})
    class InAnApplicationWithItsStore {

        @Autowired
        ReportService service;

        @MockitoBean
        Permits permits;

        @Test
        void codeAndAnnotatedMethodsWork() throws InterruptedException {
            codeGetsWhatTheMockAnswers(service, permits);
            annotatedMethodsRun(service);
        }
    }

    @Nested
    @SpringBootTest
    @AutoConfigureDistributedPermit
    class InAnApplicationWithoutItsStore {

        @Autowired
        ReportService service;

        @MockitoBean
        Permits permits;

        @Test
        void codeAndAnnotatedMethodsWork() throws InterruptedException {
            codeGetsWhatTheMockAnswers(service, permits);
            annotatedMethodsRun(service);
        }
    }

    /** Such a mock answers with a future that never ends. */
    @Nested
    @SpringBootTest
    @AutoConfigureDistributedPermit
    class WithDeepStubs {

        @Autowired
        ReportService service;

        @MockitoBean(answers = Answers.RETURNS_DEEP_STUBS)
        Permits permits;

        @Test
        void annotatedMethodsWork() {
            annotatedMethodsRun(service);
        }
    }
}
