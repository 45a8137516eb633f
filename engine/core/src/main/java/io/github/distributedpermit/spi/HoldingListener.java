package io.github.distributedpermit.spi;

/**
 * The notifications that a store sends to a member. May be called by any thread, also from within {@link PermitStore#claim}; never
 * blocks. Any notification but {@link #lost()} may be missing or late, {@link #changed} and {@link #reachable} also false: nothing
 * but latency depends on that. The others have to be true, because the validity of permits depends on them.
 */
public interface HoldingListener {

    /** The member's record of the key has changed: it was served. */
    void granted(String key, Holding holding);

    /** Something about the key has changed; claiming again shows what. */
    void changed(String key);

    /**
     * A store with sessions has renewed the member's session.
     *
     * @param sentAtNanos when the confirmed renewal was sent, on the monotonic clock the store was given
     */
    void alive(long sentAtNanos);

    /** A store with sessions has lost the member's session: nothing is held any more. */
    void lost();

    /**
     * The store can be reached again, after claims could not be sent or were not answered: claims that wait for the end of a
     * pause after a failure need not wait longer.
     */
    default void reachable() {}

    /**
     * A claim of this member has freed permits of others that are not alive any more. For operators: the state of this member does not
     * depend on it, and a store that cannot tell them from members that have returned their permits leaves it out.
     */
    default void expired(String key, Expired expired) {}
}
