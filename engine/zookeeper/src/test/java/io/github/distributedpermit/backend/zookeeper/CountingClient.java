package io.github.distributedpermit.backend.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/** Counts what goes over the wire for claims. */
final class CountingClient implements AutoCloseable {

    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger readsUntilTask = new AtomicInteger();
    private final CuratorFramework curator;
    private volatile Runnable between = () -> {};
    private final AtomicReference<Runnable> beforeWrite = new AtomicReference<>(() -> {});
    private volatile boolean deaf;

    CountingClient(String connectString, Duration session) {
        curator = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs((int) session.toMillis())
                .retryPolicy(new RetryForever(100))
                .zookeeperFactory((servers, timeout, watcher, readOnly) -> new Counting(servers, timeout, watcher))
                .build();
        curator.start();
    }

    /** Does something between the two requests of the next reading. */
    void betweenReads(Runnable task) {
        readsUntilTask.set(2);
        between = task;
    }

    /** Does something just before the next transaction is sent, on the thread that sends it. */
    void beforeNextWrite(Runnable task) {
        beforeWrite.set(task);
    }

    /** Confirms the session, beside all claims. */
    private static boolean isBeat(Iterable<Op> operations) {
        Iterator<Op> all = operations.iterator();
        return all.next().getPath().equals("/") && !all.hasNext();
    }

    private void read() {
        reads.incrementAndGet();
        if (readsUntilTask.decrementAndGet() == 0) {
            between.run();
        }
    }

    /** From now on changes of the nodes that this client watches are not delivered. */
    void loseNotifications() {
        deaf = true;
    }

    CuratorFramework curator() {
        return curator;
    }

    int writes() {
        return writes.get();
    }

    int reads() {
        return reads.get();
    }

    @Override
    public void close() {
        curator.close();
    }

    private final class Counting extends ZooKeeper {

        Counting(String servers, int timeout, Watcher watcher) throws IOException {
            super(servers, timeout, watcher);
        }

        @Override
        public void multi(Iterable<Op> ops, MultiCallback callback, Object context) {
            if (!isBeat(ops)) {
                beforeWrite.getAndSet(() -> {}).run();
                writes.incrementAndGet();
            }
            super.multi(ops, callback, context);
        }

        @Override
        public void delete(String path, int version, VoidCallback callback, Object context) {
            writes.incrementAndGet();
            super.delete(path, version, callback, context);
        }

        @Override
        public void addWatch(String path, Watcher watcher, AddWatchMode mode, VoidCallback callback, Object context) {
            Watcher frail = event -> {
                if (!deaf) {
                    watcher.process(event);
                }
            };
            super.addWatch(path, frail, mode, callback, context);
        }

        @Override
        public void getData(String path, boolean watch, DataCallback callback, Object context) {
            read();
            super.getData(path, watch, callback, context);
        }

        @Override
        public void getChildren(String path, boolean watch, ChildrenCallback callback, Object context) {
            read();
            super.getChildren(path, watch, callback, context);
        }
    }
}
