package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.harness.history.EventLog;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Threads that take permits until they are stopped. */
final class Load {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final List<Caller> callers = new ArrayList<>();
    private final Interrupter interrupter = new Interrupter();

    Load(int member, EventLog log, NamedPermits permits, Orders orders) {
        for (int thread = 0; thread < orders.threads(); thread++) {
            callers.add(new Caller(member, thread, log, permits, orders, interrupter));
        }
    }

    void start() {
        interrupter.start();
        callers.forEach(Thread::start);
    }

    String halt() throws InterruptedException {
        callers.forEach(Caller::stopCalling);
        long deadline = System.nanoTime() + PATIENCE;
        int left = 0;
        for (Caller caller : callers) {
            TimeUnit.NANOSECONDS.timedJoin(caller, Math.max(1, deadline - System.nanoTime()));
            left += caller.isAlive() ? 1 : 0;
        }
        interrupter.close();
        return "halted " + left;
    }
}
