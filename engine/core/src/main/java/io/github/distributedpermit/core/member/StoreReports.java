package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.KeyQueueHost;
import io.github.distributedpermit.spi.PermitStoreException;
import org.jspecify.annotations.Nullable;

/** Adds to what is known of the store what claims that belong to no queue have shown. Thread-safe. */
final class StoreReports {

    private final KeyQueueHost host;

    StoreReports(KeyQueueHost host) {
        this.host = host;
    }

    /** A claim is sent. */
    void asked(long now) {
        host.contact().asked(now);
    }

    /** A claim was answered. */
    void answered(long now) {
        host.contact().answers(now);
        long lasted = host.contact().reported().answered(now);
        if (lasted > 0) {
            host.storeAnswers(lasted);
        }
    }

    /**
     * A claim that was sent at this time failed or was not answered in time. A refusal is an answer of the store.
     *
     * @return whether the store did not answer
     */
    boolean failed(@Nullable Throwable failure, long sentAt, long now) {
        Throwable cause = StoreLog.cause(failure);
        if (cause instanceof PermitStoreException answer && answer.isAnswer()) {
            answered(now);
            return false;
        }
        host.contact().failed(cause, sentAt, now);
        long lasted = host.contact().reported().failed(sentAt, host.contact().answeredAt(), now);
        if (lasted > 0) {
            host.storeFails(cause, lasted);
        }
        return true;
    }

    /** Whether the store answered that it refuses the claim permanently. */
    static boolean isRefusal(Throwable cause) {
        return cause instanceof PermitStoreException failure && failure.isPermanent();
    }
}
