package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@EnableScheduling
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** Runs on one instance, and not again within the minute; the others skip it. */
    @Component
    static class Cleanup {

        private final JdbcClient database;

        Cleanup(JdbcClient database) {
            this.database = database;
        }

        @Scheduled(fixedRate = 100)
        @DistributedPermit(key = "cleanup", limit = 1, block = false, holdAtLeast = "60s")
        public void run() {
            database.sql("INSERT INTO runs VALUES (1)").update();
        }
    }
}
