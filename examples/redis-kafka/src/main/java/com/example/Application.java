package com.example;

import io.github.distributedpermit.DistributedPermit;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** A message waits for its permit while its consumer pauses and goes on polling. */
    @Component
    static class Reports {

        final Queue<String> exported = new ConcurrentLinkedQueue<>();

        @DistributedPermit(key = "export")
        @KafkaListener(topics = "reports", groupId = "exports")
        public void export(String report) {
            exported().add(report);
        }

        public Queue<String> exported() {
            return exported;
        }
    }
}
