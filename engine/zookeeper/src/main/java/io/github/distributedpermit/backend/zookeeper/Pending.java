package io.github.distributedpermit.backend.zookeeper;

import org.jspecify.annotations.Nullable;

/** The claims of a channel that wait for the one on its way, merged into one. Guarded by the lock of the channel. */
final class Pending {

    private @Nullable Request request;
    private long sentUpTo = -1;

    void add(Request next) {
        Request waiting = request;
        request = waiting == null ? next : waiting.followedBy(next, sentUpTo);
    }

    boolean isEmpty() {
        return request == null;
    }

    /** Forgets what nobody waits for any more. */
    void forgetAbandoned() {
        Request waiting = request;
        if (waiting != null && waiting.isAbandoned()) {
            request = null;
        }
    }

    /** Hands out what is to be sent now, if there is anything. */
    @Nullable
    Request send() {
        Request next = drop();
        if (next != null) {
            sentUpTo = Math.max(sentUpTo, next.claim().sequence());
        }
        return next;
    }

    /** Hands out what will not be sent, if there is anything. */
    @Nullable
    Request drop() {
        Request dropped = request;
        request = null;
        return dropped;
    }
}
