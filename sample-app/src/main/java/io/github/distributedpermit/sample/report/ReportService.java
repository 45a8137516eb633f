package io.github.distributedpermit.sample.report;

import io.github.distributedpermit.DistributedPermit;
import java.time.Duration;
import java.time.Instant;
import org.springframework.stereotype.Service;

/** Exports reports. The limit and the time-out are settings: see {@code application.yml}. */
@Service
class ReportService {

    private final InstanceName instance;

    ReportService(InstanceName instance) {
        this.instance = instance;
    }

    /** Waits until fewer than the limit of exports run, over all instances. */
    @DistributedPermit(key = "report-export")
    public Report export(long id, Duration hold, Instant askedAt) throws InterruptedException {
        return work(id, hold, askedAt);
    }

    /** The same permit, but no waiting. */
    @DistributedPermit(key = "report-export", block = false)
    public Report exportNow(long id, Duration hold, Instant askedAt) throws InterruptedException {
        return work(id, hold, askedAt);
    }

    /** A permit of the tenant first, and then one of all exports: a tenant with many calls takes none from others. */
    @DistributedPermit(key = "tenant-#{#tenant}", name = "tenant", limit = 2, within = "report-export")
    public Report exportFor(String tenant, long id, Duration hold, Instant askedAt) throws InterruptedException {
        return work(id, hold, askedAt);
    }

    private Report work(long id, Duration hold, Instant askedAt) throws InterruptedException {
        Instant startedAt = Instant.now();
        // stands for the expensive work
        Thread.sleep(hold.toMillis());
        return Report.of(id, instance.get(), askedAt, startedAt, Instant.now());
    }
}
