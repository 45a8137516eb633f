package io.github.distributedpermit.backend.consul;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Collects the text of a response, of whatever status, up to a size; a longer one fails and ends the connection, so that
 * a proxy or a wrong server cannot fill the memory. Called by one thread of the HTTP client at a time.
 *
 * <p>A body that is longer than the limit is a failure without an answer, so that the outcome of a transaction counts as
 * unknown.
 */
final class BoundedBody implements BodySubscriber<String> {

    /** The body is longer than the limit. */
    static final class TooLongException extends IOException {

        private static final long serialVersionUID = 1L;

        TooLongException(int limit) {
            super("The answer is longer than " + limit + " bytes");
        }
    }

    /** Ends once: with the text, or with the first failure. */
    private final CompletableFuture<String> body = new CompletableFuture<>();

    /**
     * The part of the body that has arrived; decoded at the end, because a character may be cut by the border of two
     * buffers.
     */
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private final int limit;
    /** {@code null} before the client has begun to deliver the body. */
    private @Nullable Subscription subscription;

    /** @param limit the most bytes of a body */
    BoundedBody(int limit) {
        this.limit = limit;
    }

    /**
     * {@link ConsulHttp} takes the reply from here and not from the client's own future, which the common pool
     * completes.
     */
    @Override
    public CompletionStage<String> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Subscription value) {
        subscription = value;
        // No flow control is needed, since the size is bounded here.
        value.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            if (body.isDone()) {
                return; // buffers that were under way when the subscription was cancelled
            }
            if (bytes.size() + buffer.remaining() > limit) {
                body.completeExceptionally(new TooLongException(limit));
                if (subscription != null) {
                    // Ends the connection, so that the rest of the body is not received.
                    subscription.cancel();
                }
                return;
            }
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            bytes.write(part, 0, part.length);
        }
    }

    @Override
    public void onError(Throwable failure) {
        body.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        // Has no effect if the body was too long.
        body.complete(bytes.toString(StandardCharsets.UTF_8));
    }
}
