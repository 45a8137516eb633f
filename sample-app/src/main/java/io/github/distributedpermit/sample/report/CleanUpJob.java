package io.github.distributedpermit.sample.report;

import io.github.distributedpermit.DistributedPermit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A scheduled example: all instances start the job, and one of them runs it. The others are skipped without a trace. */
@Component
class CleanUpJob {

    private static final Logger log = LoggerFactory.getLogger(CleanUpJob.class);

    private final AtomicInteger runs = new AtomicInteger();

    @Scheduled(cron = "${sample.clean-up.cron}")
    @DistributedPermit(key = "report-clean-up", limit = 1, block = false, holdAtLeast = "10s")
    public void cleanUp() {
        log.info("Cleaned up old reports; run {} of this instance", runs.incrementAndGet());
    }

    int runs() {
        return runs.get();
    }
}
