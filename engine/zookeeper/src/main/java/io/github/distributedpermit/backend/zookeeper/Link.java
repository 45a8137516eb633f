package io.github.distributedpermit.backend.zookeeper;

import org.apache.zookeeper.ZooKeeper;

/**
 * A session that may be relied on, and the one connection handle it belongs to: what goes through the handle goes through
 * the session, or fails. Immutable.
 *
 * @param zk the handle
 * @param epoch counts the member's sessions, and the times its session was given up as lost
 */
record Link(ZooKeeper zk, long epoch) {}
