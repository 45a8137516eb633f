package io.github.distributedpermit.aop.async;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A message has to wait for its permit: its listener was not called, and no attempt is counted. The container gets it, and
 * delivers the message again.
 */
public final class PermitPendingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient CompletableFuture<?> decided;

    PermitPendingException(String listener, CompletableFuture<?> decided) {
        super("A message waits for the permit of %s, and is delivered again".formatted(listener), null, false, false);
        this.decided = decided;
    }

    /** Among the causes of a failure; {@code null} if it is none of them. */
    public static @Nullable PermitPendingException in(@Nullable Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof PermitPendingException)) {
            cause = cause.getCause();
        }
        return (PermitPendingException) cause;
    }

    /** Ends when the message is to be delivered again, in whatever way. */
    public CompletableFuture<?> decided() {
        return decided;
    }
}
