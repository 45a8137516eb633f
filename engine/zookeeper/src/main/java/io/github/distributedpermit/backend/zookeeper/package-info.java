/**
 * Permits on a ZooKeeper ensemble, through Curator's client: one document per key, one ephemeral node per member that
 * uses it, every step one transaction with version check. It knows the SPI and nothing else of the project.
 */
@NullMarked
package io.github.distributedpermit.backend.zookeeper;

import org.jspecify.annotations.NullMarked;
