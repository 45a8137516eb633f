package io.github.distributedpermit.harness.member;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooKeeper;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The application's own client of ZooKeeper, if it is to have one: so that its session can be killed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("harness.zookeeper")
class OwnClient {

    @Bean(initMethod = "start", destroyMethod = "close")
    CuratorFramework curator(Environment environment) {
        return CuratorFrameworkFactory.builder()
                .connectString(environment.getRequiredProperty("distributed-permit.zookeeper.connect-string"))
                .sessionTimeoutMs(environment.getRequiredProperty("harness.zookeeper", Integer.class))
                .connectionTimeoutMs(1_000)
                .retryPolicy(new RetryForever(100))
                .canBeReadOnly(environment.getProperty("harness.zookeeper-read-only", Boolean.class, false))
                .build();
    }

    /** Ends the session of the client by a second connection that takes it over, which the client does not notice. */
    static String killSession(CuratorFramework client) throws Exception {
        ZooKeeper own = client.getZookeeperClient().getZooKeeper();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper same = new ZooKeeper(
                client.getZookeeperClient().getCurrentConnectionString(),
                own.getSessionTimeout(),
                event -> connected.countDown(),
                own.getSessionId(),
                own.getSessionPasswd());
        if (!connected.await(10, TimeUnit.SECONDS)) {
            return "failed: the session cannot be taken over";
        }
        same.close();
        return "killed";
    }
}
