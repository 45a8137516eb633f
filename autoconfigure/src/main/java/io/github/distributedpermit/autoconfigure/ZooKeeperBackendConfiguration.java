package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.zookeeper.ZooKeeperPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.time.Duration;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** ZooKeeper, on the application's own client if it has one. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(CuratorFramework.class)
@ConditionalOnBackend(Backend.ZOOKEEPER)
@ConditionalOnMissingBean(PermitBackend.class)
class ZooKeeperBackendConfiguration {

    @Bean
    ZooKeeperConnection distributedPermitZooKeeperConnection(
            ObjectProvider<CuratorFramework> clients, DistributedPermitProperties properties) {
        Duration lease = new SettingsReader(properties).lease();
        CuratorFramework shared = clients.getIfUnique();
        if (shared != null) {
            return ZooKeeperConnection.shared(shared, lease);
        }
        List<CuratorFramework> several = clients.stream().toList();
        if (!several.isEmpty()) {
            throw new UnusableBackendException(
                    "Permits are to live in ZooKeeper, but the application has %d clients to choose from"
                            .formatted(several.size()),
                    "Mark one of the CuratorFramework beans @Primary");
        }
        return new ZooKeeperConnection(
                ZooKeeperClientFactory.start(properties.zookeeper().connectString(), lease), lease, true);
    }

    @Bean
    ZooKeeperPermitBackend zooKeeperPermitBackend(
            ZooKeeperConnection connection, DistributedPermitProperties properties) {
        return new ZooKeeperPermitBackend(
                connection.client(), connection.settings(new SettingsReader(properties).keyPrefix()));
    }
}
