package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A listener that keeps the last grant of each key. Thread-safe. */
final class Recorder implements HoldingListener {

    private final Task whenReachable;
    private final AtomicInteger reached = new AtomicInteger();
    private final Map<String, Holding> grants = new ConcurrentHashMap<>();

    private final Set<String> changes = ConcurrentHashMap.newKeySet();

    Recorder(Task whenReachable) {
        this.whenReachable = whenReachable;
    }

    Map<String, Holding> grants() {
        return grants;
    }

    @Override
    public void granted(String key, Holding holding) {
        grants.put(key, holding);
    }

    /** The keys of which something has changed. */
    Set<String> changes() {
        return changes;
    }

    @Override
    public void changed(String key) {
        changes.add(key);
    }

    @Override
    public void alive(long sentAtNanos) {}

    @Override
    public void lost() {}

    @Override
    public void reachable() {
        reached.incrementAndGet();
        try {
            whenReachable.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** How often the store became reachable. */
    int reached() {
        return reached.get();
    }

    /** A task that may block. */
    interface Task {

        void run() throws InterruptedException;
    }
}
