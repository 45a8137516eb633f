package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @RestController
    record Exports(Exporter exporter) {

        @GetMapping("/export")
        String export() {
            return exporter.export();
        }
    }

    /** A request that gets no permit is answered with 429 and Retry-After. */
    @Service
    static class Exporter {

        @DistributedPermit(key = "export", block = false)
        public String export() {
            return "exported";
        }
    }
}
