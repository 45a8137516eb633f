package io.github.distributedpermit.sample.report;

import io.github.distributedpermit.DistributedPermit;
import java.time.Duration;
import java.time.Instant;
import org.springframework.stereotype.Service;
import reactor.core.publisher.Mono;

/** Previews of reports, as a reactive example: each subscription waits for its permit, and no thread does. */
@Service
class PreviewService {

    private final InstanceName instance;

    PreviewService(InstanceName instance) {
        this.instance = instance;
    }

    @DistributedPermit(key = "report-preview", limit = 5, timeout = "2s")
    public Mono<Report> preview(long id, Duration hold, Instant askedAt) {
        Instant startedAt = Instant.now();
        return Mono.delay(hold).map(done -> Report.of(id, instance.get(), askedAt, startedAt, Instant.now()));
    }
}
