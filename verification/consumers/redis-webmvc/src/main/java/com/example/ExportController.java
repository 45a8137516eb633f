package com.example;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ExportController {

    private final Exporter exporter;

    ExportController(Exporter exporter) {
        this.exporter = exporter;
    }

    @GetMapping("/export")
    String export() {
        return exporter.export();
    }

    @Service
    static class Exporter {

        @DistributedPermit(key = "export", block = false)
        public String export() {
            return "exported";
        }
    }
}
