package io.github.distributedpermit.sample.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The sample from what {@code process-aot} has generated, with Redis, and with a backend that was not chosen then. */
class AheadOfTimeIT {

    @Test
    void limitedCallsRunWithGeneratedBeans() {
        try (SampleInstance instance =
                SampleInstance.startAheadOfTime("ahead-of-time", "--sample.embedded-redis.port=" + Fleet.freePort())) {
            instance.awaitWell();

            assertThat(instance.export(1, "0s").join().status()).isEqualTo(200);
            assertThat(instance.exportNow(2, "0s").join().status()).isEqualTo(200);
            assertThat(instance.output()).contains("Starting AOT-processed SampleApplication");
        }
    }

    @Test
    void otherBackendThanTheFrozenOneStopsTheStart() {
        try (SampleInstance instance =
                SampleInstance.startAheadOfTime("ahead-of-time-frozen", "--distributed-permit.backend=local")) {
            assertThat(instance.awaitEnd()).isNotZero();
            assertThat(instance.output())
                    .contains("distributed-permit.backend is local")
                    .contains("processed ahead of time with the backend redis");
        }
    }
}
