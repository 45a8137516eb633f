package io.github.distributedpermit.core;

import org.jspecify.annotations.Nullable;

/**
 * Who is to hear of the loss of a permit.
 *
 * @param newest added last
 * @param before those added before
 */
record LossListeners(Runnable newest, @Nullable LossListeners before) {

    /** In place of all of them when they have been told. */
    static final LossListeners TOLD = new LossListeners(() -> {}, null);

    /** Tells them in the order they were added. */
    void tell(LineHost host) {
        if (before != null) {
            before.tell(host);
        }
        host.callback(newest);
    }
}
