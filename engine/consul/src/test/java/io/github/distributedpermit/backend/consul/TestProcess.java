package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A process with the real engine. */
final class TestProcess implements AutoCloseable {

    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
    private final PermitEngine engine;

    TestProcess(ConsulPermitBackend backend) {
        Scheduler scheduler = (task, delay) -> {
            Future<?> scheduled = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        };
        this.engine = new PermitEngine(
                backend,
                new Member(UUID.randomUUID().toString(), "test"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(),
                CoreEnvironment.of(System::nanoTime, scheduler, timers, timers, Observers.NONE));
    }

    /** QueuedMember calls have no time-out. */
    NamedPermits permits(String name, int limit) {
        engine.define(
                PermitDefinition.named(name, "test").key(name).limit(limit).build());
        return engine.named(name);
    }

    @Override
    public void close() {
        engine.close();
        timers.shutdownNow();
    }
}
