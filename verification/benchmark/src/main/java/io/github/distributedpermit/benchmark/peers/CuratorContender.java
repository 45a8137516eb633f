package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.util.Locale;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;

/** Curator's {@code InterProcessSemaphoreV2}, or as the floor one created node and nothing else. */
public final class CuratorContender implements Contender {

    private static final int SESSION_MILLIS = 10_000;

    private final CuratorFramework client;
    private final boolean floor;

    private CuratorContender(String connect, boolean floor) {
        this.client = CuratorFrameworkFactory.newClient(connect, SESSION_MILLIS, 5_000, new RetryOneTime(100));
        this.floor = floor;
        client.start();
    }

    /** The recipe. */
    public static Contender semaphore(String connect) {
        return new CuratorContender(connect, false);
    }

    /** One create of an ephemeral node. It limits nothing. */
    public static Contender create(String connect) {
        return new CuratorContender(connect, true);
    }

    @Override
    public Gate gate(String key, int limit) throws Exception {
        return floor ? floor(key) : recipe(key, limit);
    }

    private Gate recipe(String key, int limit) {
        InterProcessSemaphoreV2 semaphore =
                new InterProcessSemaphoreV2(client, "/curator/" + key.toLowerCase(Locale.ROOT), limit);
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                return semaphore.acquire();
            }

            @Override
            public void leave(Object pass) {
                semaphore.returnLease((Lease) pass);
            }
        };
    }

    private Gate floor(String key) throws Exception {
        String path = "/floor/" + key + "/n";
        client.createContainers("/floor/" + key);
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                return client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(path, new byte[0]);
            }

            @Override
            public void leave(Object pass) throws Exception {
                client.delete().inBackground().forPath((String) pass);
            }
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
