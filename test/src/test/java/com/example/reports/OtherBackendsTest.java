package com.example.reports;

import static io.github.distributedpermit.test.PermitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.test.AutoConfigureDistributedPermit;
import io.github.distributedpermit.test.PermitClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/** Backends that an application defines itself, permits that are switched off, and the defaults. */
class OtherBackendsTest {

    @Nested
    @SpringBootTest
    @AutoConfigureDistributedPermit(movableClock = true)
    class BackendOfTheApplication {

        @Autowired
        ReportService service;

        @Autowired
        Permits permits;

        @Autowired
        PermitClock clock;

        @Autowired
        List<PermitBackend> backends;

        @TestConfiguration
        static class Own {

            @Bean
            PermitBackend ownBackend() {
                return new PermitBackend() {
                    @Override
                    public String name() {
                        return "own";
                    }

                    @Override
                    public PermitStore join(Member member, HoldingListener listener) {
                        throw new AssertionError("The store of the application is not used in this test");
                    }
                };
            }
        }

        @Test
        void isBypassedAndRunsOnTheClockOfTheTest() {
            assertThat(backends).singleElement().isInstanceOf(LocalPermitBackend.class);
            service.nightly();
            assertThat(permits).holds(1);
            clock.advance(Duration.ofSeconds(10));
            assertThat(permits).hasReleasedAll().wasCalledTimes(1);
        }
    }

    @Nested
    @SpringBootTest
    @AutoConfigureDistributedPermit(enabled = false)
    class WithoutLimits {

        @Autowired
        ReportService service;

        @Autowired
        Permits permits;

        @Autowired
        ObjectProvider<PermitBackend> backends;

        @Test
        void callsRunAndNothingIsRecorded() throws InterruptedException {
            assertThat(service.export("a", () -> {})).isEqualTo("report of a");
            assertThat(service.archive()).isEqualTo("archived");
            assertThat(backends.stream()).isEmpty();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> assertThat(permits).holds(0))
                    .withMessageContaining("record no calls")
                    .withMessageContaining("@AutoConfigureDistributedPermit");
        }
    }
}
