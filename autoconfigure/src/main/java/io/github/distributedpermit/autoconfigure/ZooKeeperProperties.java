package io.github.distributedpermit.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The setting of the client that is made for permits in ZooKeeper if the application has none of its own.
 *
 * @param connectString Servers of the ensemble, such as 'zk1:2181,zk2:2181,zk3:2181'; a path behind them confines the
 *     client to that part of the tree. Without effect if the application has a CuratorFramework bean.
 */
@ConfigurationProperties("distributed-permit.zookeeper")
record ZooKeeperProperties(@DefaultValue("localhost:2181") String connectString) {}
