package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.Scheduler;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** A process with the real core, whose calls are patient. */
final class TestProcess implements AutoCloseable {

    final String id = UUID.randomUUID().toString();
    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
    private final PermitEngine engine;

    TestProcess(DataSource source, JdbcSettings settings) {
        Scheduler scheduler = (task, delay) -> {
            Future<?> scheduled = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        };
        this.engine = new PermitEngine(
                new JdbcPermitBackend(source, "", settings),
                new Member(id, "test"),
                CoreSettings.DEFAULTS.toBuilder()
                        .lease(settings.session())
                        .commandTimeout(settings.commandTimeout())
                        .build(),
                PermitSettings.builder().storeTimeout(Duration.ofMinutes(5)).build(),
                Map.of(),
                CoreEnvironment.of(System::nanoTime, scheduler, timers, timers, Observers.NONE));
    }

    /** Waiting calls have no time-out. */
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
