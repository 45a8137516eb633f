package io.github.distributedpermit.core.key;

import org.jspecify.annotations.Nullable;

/** Is shown one queue after another, under the lock of each, then the calls without a queue; so it must be quick. Times are on the clock of the process. */
public interface KeyQueueVisitor {

    /** A call that waits; if all calls of a key have one name, only the one that arrived first. {@code inner} as in {@link Waiter#inner}. */
    void waits(PermitName permit, String key, long since, @Nullable String inner);

    /** A call that holds its permits; if all calls of a key have one name, only those that were granted them first and last. */
    void holds(PermitName permit, String key, long since);

    /** A group of which calls wait. */
    void group(PermitName permit);

    /** A call that runs although its permits were lost. */
    void lost(PermitName permit);

    /** How many claims of the key may still be answered. */
    void unanswered(int claims);

    /** The store grants nothing new of the key, because it may have lost state. */
    void grace();
}
