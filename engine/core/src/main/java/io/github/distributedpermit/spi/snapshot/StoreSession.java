package io.github.distributedpermit.spi.snapshot;

/**
 * The session by which a store keeps a member alive for all keys. Immutable. The layer compares sessions by both
 * values: an answer counts only in the session in which its request was sent.
 *
 * @param member the name of the member in snapshots while this session lives: its id, or an id of the session. If it
 *     differs from that of the session before, records of that session need no clean-up, because the store drops them
 * @param number differs from that of each session before
 */
public record StoreSession(String member, long number) {}
