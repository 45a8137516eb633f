package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of the application share one limit through a real server. */
class TwoInstancesTest {

    @Test
    void jobIsSkippedWhileItRunsElsewhere() throws Exception {
        try (TestingServer server = new TestingServer();
                ConfigurableApplicationContext one = instance(server);
                ConfigurableApplicationContext other = instance(server)) {
            NightlyJob job = other.getBean(NightlyJob.class);
            try (Permit running = one.getBean(Permits.class).acquire("nightly")) {
                job.run();
                assertThat(job.runs()).isZero();
                assertThat(running.isHeld()).isTrue();
            }
            // a return travels behind the end of the call; a call that may wait comes after it
            other.getBean(Permits.class).acquire("nightly").release();
            job.run();
            assertThat(job.runs()).isEqualTo(1);
        }
    }

    private static ConfigurableApplicationContext instance(TestingServer server) {
        return new SpringApplicationBuilder(Application.class)
                .run("--distributed-permit.zookeeper.connect-string=" + server.getConnectString());
    }
}
