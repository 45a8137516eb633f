package io.github.distributedpermit.spi.snapshot;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Member;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A heap that is full for a moment ends neither the renewal of the session nor other periodic work. */
class RenewalErrorsTest {

    private final AtomicBoolean full = new AtomicBoolean();

    /** Cannot take a further task once. */
    private final ScheduledThreadPoolExecutor control = new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (full.compareAndSet(true, false)) {
                throw new OutOfMemoryError("planted");
            }
            return super.schedule(task, delay, unit);
        }
    };

    private final ScheduledExecutorService claims = Executors.newScheduledThreadPool(1);

    @AfterEach
    void stop() {
        control.shutdownNow();
        claims.shutdownNow();
    }

    @Test
    void renewalsGoOn() {
        AtomicInteger renewals = new AtomicInteger();
        @SuppressWarnings("unchecked")
        BatchingSnapshotStore.Client<TableSnapshot> client =
                (BatchingSnapshotStore.Client<TableSnapshot>) Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {BatchingSnapshotStore.Client.class},
                        (proxy, method, arguments) -> switch (method.getName()) {
                            case "begin" -> 1L;
                            case "renew" -> {
                                if (renewals.incrementAndGet() == 2) {
                                    full.set(true);
                                    throw new OutOfMemoryError("planted");
                                }
                                yield new BatchingSnapshotStore.Renewal(true, false, 1);
                            }
                            default -> null;
                        });
        BatchingSnapshotStore<TableSnapshot> store = new BatchingSnapshotStore<>(
                client, client, "member", Duration.ofSeconds(1), System::nanoTime, claims, control);
        SnapshotPermitStore<TableSnapshot> layer = new SnapshotPermitStore<>(
                store,
                new Member("member", "member"),
                new SilentCore(),
                System::nanoTime,
                claims,
                Duration.ofSeconds(10));
        await().until(() -> renewals.get() >= 5);
        full.set(false);
        layer.close();
    }
}
