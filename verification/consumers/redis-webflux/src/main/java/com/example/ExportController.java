package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class ExportController {

    private final Exporter exporter;

    ExportController(Exporter exporter) {
        this.exporter = exporter;
    }

    @GetMapping("/export")
    Mono<String> export() {
        return exporter.export();
    }

    @Service
    static class Exporter {

        @DistributedPermit(key = "export", block = false)
        public Mono<String> export() {
            return Mono.just("exported");
        }
    }
}
