package com.example.reports;

import io.github.distributedpermit.DistributedPermit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
class ReportController {

    @DistributedPermit(key = "report-#{#tenant}", name = "report", limit = 1, block = false)
    @GetMapping("/report")
    public String report(@RequestParam("tenant") String tenant) {
        return "report of " + tenant;
    }
}
