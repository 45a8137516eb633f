package com.example.reports;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnReject;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

@Service
class ReportService {

    private final Permits permits;

    ReportService(Permits permits) {
        this.permits = permits;
    }

    @DistributedPermit(key = "tenant-#{#tenant}", name = "export", limit = 2, timeout = "30s")
    public String export(String tenant, Runnable work) {
        work.run();
        return "report of " + tenant;
    }

    @DistributedPermit(key = "nightly", limit = 1, block = false, onReject = OnReject.SKIP, holdAtLeast = "10s")
    public void nightly() {}

    @DistributedPermit(key = "later", limit = 1)
    public CompletableFuture<String> later(CompletableFuture<String> report) {
        return report;
    }

    /** Limited in code. */
    String archive() throws InterruptedException {
        try (Permit permit = permits.acquire("archive", Duration.ofSeconds(30))) {
            return permit.isHeld() ? "archived" : "lost";
        }
    }

    /** Forgets to release. */
    Permit leak() throws InterruptedException {
        return permits.acquire("archive");
    }
}
