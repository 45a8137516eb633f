/**
 * Permits in Redis, over Lettuce with the settings of the application. Each operation is one Lua script, all state of a key is
 * in one hash slot, and a member has one subscription.
 *
 * <p>The way of a claim, from top to bottom:
 *
 * <pre>
 * RedisPermitStore.claim        makes a ClaimCall
 * ConnectionManager.submitCall  holds it until the first connection (PendingCalls)
 * ClaimPipeline.enqueueClaim    appends it to the ClaimQueue
 * ClaimPipeline.sendBatches     sends a ClaimBatch if the window has a place
 * ScriptCall.sendOver           issues EVALSHA on the SharedConnection, with DeferredArgs
 * ClaimPipeline.fillBatch       fixes the content when Lettuce writes the command
 *                               (Redis runs claims.lua; queued.lua if members wait, where a permit passes from
 *                               one to another; common, serve, lineage and claim.lua otherwise)
 * ScriptCall.accept             receives the answer, or the failure (Failures)
 * ClaimPipeline.endBatch        sends the next batch, then completes the claims of this one
 * </pre>
 *
 * <p>The way of a notification: the script that grants publishes it to the channel of the member, GrantSubscription receives it,
 * GrantMessages reads it, and the HoldingListener of the core gets it.
 *
 * <p>The other classes by role:
 * <ul>
 *   <li>Connections: ConnectionManager owns the one thread, which uses Connector (makes and replaces a SharedConnection),
 *       GrantSubscription (GrantMessages, ServerCheck), ReconnectPause and WorkSignal.
 *   <li>Servers: OwnClient with LettuceOptions and ServerUris; a MasterLocator: StaticNodes, or Sentinels with SentinelNode and
 *       SentinelView; UnresponsiveNodes.
 *   <li>Servers that lose state (lineage.lua): KnownEpochs, LineageNames, ReplicaWait; FormerMaster closes one that was replaced.
 *   <li>Calls: Call, of which ClaimCall is a claim and KeyCall one script for one key. KeyScan looks for keys in use, NameKeys has
 *       the readable names of members.
 *   <li>Formats: ClaimCodec, ExpiryNotice, RedisKey, RedisKeys, Script (ScriptHints in a native image), Inspection.
 *   <li>The entrance: RedisPermitBackend with RedisSettings; RedisAddress is for messages.
 * </ul>
 *
 * <p>Callers' threads send, threads of Lettuce's write and complete, and the thread of the ConnectionManager connects. No
 * thread holds a lock while it calls the core.
 */
@NullMarked
package io.github.distributedpermit.backend.redis;

import org.jspecify.annotations.NullMarked;
