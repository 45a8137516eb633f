package io.github.distributedpermit.backend.zookeeper;

import java.time.Duration;
import org.apache.zookeeper.common.PathUtils;

/**
 * What the backend needs to know beside its client.
 *
 * <p>Immutable.
 *
 * @param root the node under which all keys lie, such as {@code /distributed-permit}; within the namespace of the
 *     client, if it has one. It is created with the first key, and deleted by the server after the last
 * @param sessionTimeout the session time-out the client asks its ensemble for: how long permits outlive their process
 * @param idle how long the node of a member stays with a key it no longer uses. While it is there the next use costs no
 *     read
 */
public record ZooKeeperSettings(String root, Duration sessionTimeout, Duration idle) {

    /**
     * How long an idle member stays with a key. Long enough that a key which is used every few seconds keeps its
     * node, instead of creating one at each use.
     */
    public static final Duration DEFAULT_IDLE = Duration.ofSeconds(10);

    /** Checks the values. */
    public ZooKeeperSettings {
        // Throws IllegalArgumentException, with the reason.
        PathUtils.validatePath(root);
        if (root.length() == 1) {
            throw new IllegalArgumentException("The keys need a node of their own, not the root of the tree");
        }
        if (sessionTimeout.compareTo(Duration.ofMillis(100)) < 0) {
            throw new IllegalArgumentException("A session of " + sessionTimeout + " is too short");
        }
        if (idle.isNegative()) {
            throw new IllegalArgumentException("idle " + idle);
        }
    }

    /**
     * Keys under {@code /<keyPrefix>}.
     *
     * @param keyPrefix of all keys, without a slash in front
     * @param sessionTimeout as in the record
     */
    public static ZooKeeperSettings of(String keyPrefix, Duration sessionTimeout) {
        return new ZooKeeperSettings("/" + keyPrefix, sessionTimeout, DEFAULT_IDLE);
    }
}
