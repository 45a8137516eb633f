package io.github.distributedpermit.core;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Who is to hear of the loss of a permit.
 *
 * @param newest added last
 * @param before those added before
 */
record LossListeners(Runnable newest, @Nullable LossListeners before) {

    private static final System.Logger LOG = System.getLogger(LossListeners.class.getName());

    /** In place of all of them when they have been told. */
    static final LossListeners TOLD = new LossListeners(() -> {}, null);

    /** Tells them in the order they were added, one after the other; one that throws does not keep the others from it. */
    void tell() {
        Deque<Runnable> inOrder = new ArrayDeque<>();
        for (LossListeners each = this; each != null; each = each.before) {
            inOrder.push(each.newest);
        }
        inOrder.forEach(LossListeners::tell);
    }

    /** Tells one. */
    static void tell(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "A listener to the loss of a permit failed; others are called", e);
        }
    }
}
