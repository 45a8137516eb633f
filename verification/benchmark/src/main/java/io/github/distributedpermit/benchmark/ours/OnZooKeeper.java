package io.github.distributedpermit.benchmark.ours;

import io.github.distributedpermit.backend.zookeeper.ZooKeeperPermitBackend;
import io.github.distributedpermit.backend.zookeeper.ZooKeeperSettings;
import io.github.distributedpermit.core.CoreSettings;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;

/** This project on ZooKeeper. */
public final class OnZooKeeper {

    private static final Duration SESSION = Duration.ofSeconds(10);

    private OnZooKeeper() {}

    /** One member. */
    public static OurContender contender(String connect) {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(connect, (int) SESSION.toMillis(), 5_000, new RetryOneTime(100));
        client.start();
        ZooKeeperSettings settings = ZooKeeperSettings.of("distributed-permit", SESSION);
        return new OurContender(new ZooKeeperPermitBackend(client, settings), CoreSettings.DEFAULTS, client);
    }
}
