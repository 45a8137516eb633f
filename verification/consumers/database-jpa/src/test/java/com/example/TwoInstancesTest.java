package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of the application share limits through the application's own database. */
class TwoInstancesTest {

    private static EmbeddedPostgres server;
    private static ConfigurableApplicationContext one;
    private static ConfigurableApplicationContext other;

    @BeforeAll
    static void start() throws Exception {
        server = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
        one = instance();
        other = instance();
    }

    @AfterAll
    static void stop() throws Exception {
        other.close();
        one.close();
        server.close();
    }

    @Test
    void exportIsRejectedWhileOneRunsElsewhere() throws Exception {
        ExportService exports = other.getBean(ExportService.class);
        try (Permit running = one.getBean(Permits.class).acquire("export")) {
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(() -> exports.export("first"));
            assertThat(running.isHeld()).isTrue();
        }
        // a return travels behind the end of the call; a call that may wait comes after it
        other.getBean(Permits.class).acquire("export").release();
        exports.export("second");
        assertThat(other.getBean(Exports.class).findAll()).extracting(Export::name).contains("second");
    }

    /** More callers than connections: those that wait for a permit occupy the pool. */
    @Test
    void callsWithinTransactionsKeepTheLimitAndAreAllServed() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(80);
        List<Future<?>> calls = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                OrderService orders = (i % 2 == 0 ? one : other).getBean(OrderService.class);
                String name = i % 10 == 9 ? "bad" : "good";
                calls.add(callers.submit(() -> order(orders, name)));
            }
            for (Future<?> call : calls) {
                call.get(60, TimeUnit.SECONDS);
            }
        } finally {
            callers.shutdownNow();
        }
        assertThat(ReportService.MOST).hasValueBetween(1, 3);
        assertThat(other.getBean(Exports.class).findAll()).extracting(Export::name).doesNotContain("bad");
        assertThat(one.getBean(Exports.class).findAll().stream().filter(export -> export.name().equals("good")))
                .hasSize(180);
    }

    private static void order(OrderService orders, String name) {
        if (name.equals("bad")) {
            assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> orders.order(name));
        } else {
            orders.order(name);
        }
    }

    private static ConfigurableApplicationContext instance() {
        return new SpringApplicationBuilder(Application.class)
                .run("--spring.datasource.url=" + server.getJdbcUrl("postgres", "postgres"));
    }
}
