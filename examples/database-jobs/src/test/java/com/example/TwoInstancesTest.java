package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Two instances of the application share a job and a database. */
class TwoInstancesTest {

    @Test
    void jobRunsOnce() throws Exception {
        try (ConfigurableApplicationContext one = SpringApplication.run(Application.class);
                ConfigurableApplicationContext other = SpringApplication.run(Application.class)) {
            JdbcClient database = other.getBean(JdbcClient.class);
            while (runs(database) == 0) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < 10; i++) {
                one.getBean(Application.Cleanup.class).run();
                other.getBean(Application.Cleanup.class).run();
            }
            assertThat(runs(database)).isEqualTo(1);
            assertThat(one.getBean(Permits.class).tryAcquire("cleanup", Duration.ofMillis(100)))
                    .map(Permit::key)
                    .isEmpty();
        }
    }

    private static int runs(JdbcClient database) {
        return database.sql("SELECT COUNT(*) FROM runs").query(Integer.class).single();
    }
}
