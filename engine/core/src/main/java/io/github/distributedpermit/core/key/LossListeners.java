package io.github.distributedpermit.core.key;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The listeners to the loss of one {@link Grant}, as an immutable linked list that a compare-and-set replaces. Thread-safe.
 *
 * @param newest the listener that was added last
 * @param before the listeners that were added before it
 */
record LossListeners(Runnable newest, @Nullable LossListeners before) {

    private static final System.Logger LOG = System.getLogger(LossListeners.class.getName());

    /** Takes the place of the list once its listeners have been called. */
    static final LossListeners NOTIFIED = new LossListeners(() -> {}, null);

    /** Calls all listeners in the order in which they were added. One that throws does not stop the others. */
    void notifyAllInOrder() {
        Deque<Runnable> inOrder = new ArrayDeque<>();
        for (LossListeners each = this; each != null; each = each.before) {
            inOrder.push(each.newest);
        }
        inOrder.forEach(LossListeners::notify);
    }

    /** Calls one listener. */
    static void notify(Runnable listener) {
        try {
            listener.run();
        } catch (Throwable e) {
            try {
                LOG.log(
                        System.Logger.Level.ERROR,
                        "A listener to the loss of a permit threw an exception; the other listeners are called",
                        e);
            } catch (RuntimeException | Error withoutLog) {
                // the other listeners matter more than the log
            }
        }
    }
}
