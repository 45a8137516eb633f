package io.github.distributedpermit.backend.zookeeper;

import org.apache.zookeeper.ZooKeeper;

/**
 * A session that may be relied on, and the one connection handle it belongs to: what goes through the handle goes through
 * the session, or fails. Immutable.
 *
 * <p>A request keeps the link with which it was sent, and its answer counts only if the epoch is still the same: an answer of a
 * session that was given up must not change what is recorded for the next one.
 *
 * @param zk the handle
 * @param epoch counts the member's sessions, and the times its session was given up as lost
 */
record Link(ZooKeeper zk, long epoch) {}
