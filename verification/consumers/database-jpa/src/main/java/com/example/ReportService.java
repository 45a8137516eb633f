package com.example;

import io.github.distributedpermit.DistributedPermit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Part of the transaction of its caller. Fails for the name {@code bad}. */
@Service
class ReportService {

    static final AtomicInteger RUNNING = new AtomicInteger();
    static final AtomicInteger MOST = new AtomicInteger();

    private final Exports exports;

    ReportService(Exports exports) {
        this.exports = exports;
    }

    @DistributedPermit(key = "report")
    @Transactional(propagation = Propagation.MANDATORY)
    public void report(String name) {
        MOST.accumulateAndGet(RUNNING.incrementAndGet(), Math::max);
        try {
            exports.count();
            if (name.equals("bad")) {
                throw new IllegalArgumentException(name);
            }
        } finally {
            RUNNING.decrementAndGet();
        }
    }
}
