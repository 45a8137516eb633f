/**
 * Permits on a ZooKeeper ensemble, through Curator's client: one document per key, one ephemeral node per member that uses it,
 * and each change one transaction that checks the version of the document. It knows the SPI and nothing else of the project.
 *
 * <p>The classes by what they do, in the order of a claim:
 *
 * <ul>
 *   <li>{@code ZooKeeperSnapshotStore} is the store that the snapshot layer calls. {@code Nodes} sends requests and
 *       {@code Names} has the names of nodes.
 *   <li>{@code KeyReading} puts the answers of a reading together to a {@code NodeSnapshot} with its {@code KeyDocument}.
 *   <li>{@code NodeTransaction} makes the operations of a commit; {@code GrantNote} is what it writes for a served member.
 *   <li>{@code OwnNode} is the member's node of a key, which receives these notes. {@code OrphanedNodes} and
 *       {@code NodeRelease} delete what is not needed any more.
 *   <li>{@code MemberSession} knows whether the session may be used and until when it is certain to live, which
 *       {@code LeaderContact} derives from answers of the leader.
 * </ul>
 *
 * <p>Answers and events arrive on the event thread of the client, which nothing here blocks. The one thread of the member runs the
 * checks of the session and the pauses of the layer.
 */
@NullMarked
package io.github.distributedpermit.backend.zookeeper;

import org.jspecify.annotations.NullMarked;
