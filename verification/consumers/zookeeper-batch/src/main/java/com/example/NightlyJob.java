package com.example;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnReject;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;

/** Runs on one instance at a time; the others skip it. */
@Component
class NightlyJob {

    final AtomicInteger runs = new AtomicInteger();

    @DistributedPermit(key = "nightly", limit = 1, block = false, onReject = OnReject.SKIP)
    public void run() {
        countRun();
    }

    public int runs() {
        return runs.get();
    }

    private void countRun() {
        runs.incrementAndGet();
    }
}
