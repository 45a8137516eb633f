package io.github.distributedpermit;

/**
 * What happens to a call of a permit while the store does not answer. All but {@link #FAIL} take effect only once no claim of
 * this instance has been answered for the store time-out (setting {@code store-timeout}), and until the store has answered steadily for
 * a command time-out. Until then, and for a store that refuses permanently, such as for a wrong password, calls fail.
 *
 * <p>A permit that a call gets without the store is counted by this instance only. {@link Permit#isHeld()} is true until it
 * is released, and its {@link Permit#token()} has the version 0, which a resource that checks tokens refuses. Once the store
 * is used again, such a permit is recorded there as soon as the limit has room for it, before waiting calls get permits.
 */
public enum OnStoreFailure {
    /** As {@code distributed-permit.defaults.on-store-failure} says; {@link #FAIL} if that says nothing. */
    DEFAULT,
    /** The call ends with {@link PermitBackendException}. */
    FAIL,
    /** The call runs at once, however many others run. Keys that an operator had paused stay paused. */
    ALLOW,
    /**
     * The call gets a permit of this instance's share of the limit, and waits for one in this instance if need be. The shares
     * of all instances that were known before together are the limit. An instance whose share is 0, and one that has never
     * reached the store, fail calls as with {@link #FAIL}.
     */
    LOCAL
}
