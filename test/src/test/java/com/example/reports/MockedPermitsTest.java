package com.example.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Permits as a mock: with the store of the application, with the one in memory, and without limits. */
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

    /** The engine with its store stays; a call for its permits is never made. */
    @Nested
    @SpringBootTest(properties = "distributed-permit.backend=redis")
    class InAnApplicationWithItsStore {

        @Autowired
        ReportService service;

        @MockitoBean
        Permits permits;

        @Test
        void codeWorks() throws InterruptedException {
            codeGetsWhatTheMockAnswers(service, permits);
        }
    }

    @Nested
    @SpringBootTest
    @AutoConfigureDistributedPermit(enabled = false)
    class WithoutLimits {

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
    class WithLimits {

        @Autowired
        ReportService service;

        @MockitoBean
        Permits permits;

        @Test
        void annotatedMethodsAskTheMock() throws InterruptedException {
            NamedPermits export = mock();
            when(permits.named("export")).thenReturn(export);
            Permit permit = mock();
            when(export.acquire(any(PermitRequest.class))).thenReturn(permit);

            assertThat(service.export("a", () -> {})).isEqualTo("report of a");
            verify(permit).close();
        }
    }
}
