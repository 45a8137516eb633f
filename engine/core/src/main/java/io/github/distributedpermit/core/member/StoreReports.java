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
        long lasted = host.contact().answered(now);
        if (lasted > 0) {
            host.storeAnswers(lasted);
        }
    }

    /**
     * A claim that was sent at this time failed. A refusal is an answer of the store.
     *
     * @return whether the store did not answer
     */
    boolean failed(Throwable failure, long sentAt, long now) {
        Throwable cause = PermitStoreException.causeOf(failure);
        if (cause instanceof PermitStoreException answer && answer.isAnswer()) {
            answered(now);
            return false;
        }
        report(cause, cause, sentAt, now);
        return true;
    }

    /** A claim that was sent at this time was not answered in time. */
    void unanswered(long sentAt, long now) {
        report(null, PermitStoreException.passing("no answer within the command time-out", null), sentAt, now);
    }

    private void report(@Nullable Throwable failure, Throwable why, long sentAt, long now) {
        long lasted = host.contact().failed(failure, sentAt, now);
        if (lasted > 0) {
            host.storeFails(why, lasted);
        }
    }

    /** Whether the store answered that it refuses the claim permanently. */
    static boolean isRefusal(Throwable cause) {
        return cause instanceof PermitStoreException failure && failure.isPermanent();
    }
}
