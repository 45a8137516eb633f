package io.github.distributedpermit.http;

import io.github.distributedpermit.Permit;
import java.lang.ref.Cleaner;
import java.util.concurrent.CompletableFuture;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The permit of one outgoing request, which may still wait for it. Whoever sends the request or may read its answer refers to this
 * object: if that ends without a close, the permit is returned when the garbage collector finds out. Thread-safe.
 */
final class RequestPermit implements AutoCloseable {

    private static final Log log = LogFactory.getLog(RequestPermit.class);

    private static final Cleaner CLEANER = Cleaner.create();

    private final Return onEnd;
    private final Cleaner.Cleanable cleanable;

    private RequestPermit(CompletableFuture<Permit> asked) {
        onEnd = new Return(asked);
        cleanable = CLEANER.register(this, onEnd);
    }

    /** Takes charge of the permit; if it cannot, that is given back. */
    static RequestPermit of(CompletableFuture<Permit> asked) {
        try {
            return new RequestPermit(asked);
        } catch (RuntimeException | Error e) {
            giveBack(asked);
            throw e;
        }
    }

    /** Returns the permit, or leaves its queue. Has no effect the second time. */
    @Override
    public void close() {
        onEnd.asked = true;
        cleanable.clean();
    }

    private static void giveBack(CompletableFuture<Permit> permit) {
        if (!permit.cancel(false) && !permit.isCompletedExceptionally()) {
            permit.join().close();
        }
    }

    /** Does not refer to its request, which would never be collected then. */
    private static final class Return implements Runnable {

        private final CompletableFuture<Permit> permit;
        private volatile boolean asked;

        Return(CompletableFuture<Permit> permit) {
            this.permit = permit;
        }

        @Override
        public void run() {
            giveBack(permit);
            if (!asked && !permit.isCompletedExceptionally()) {
                log.warn(
                        ("The answer to an HTTP request with a permit of '%s' was neither read to its end nor closed, so it held the"
                                        + " permit until the garbage collector found it. Close the answer")
                                .formatted(permit.join().name()));
            }
        }
    }
}
