package io.github.distributedpermit.core.key;

/** Is shown one queue after another, under the lock of each; so it must be quick. Times are on the clock of the process. */
public interface KeyQueueVisitor {

    /** The call that arrived first and waits. */
    void waits(PermitStats stats, String key, long since);

    /** The call that was granted its permits first and holds them. */
    void holds(PermitStats stats, String key, long since);

    /** How many claims of the key may still be answered. */
    void unanswered(int claims);

    /** The store grants nothing new of the key, because it may have lost state. */
    void grace();
}
