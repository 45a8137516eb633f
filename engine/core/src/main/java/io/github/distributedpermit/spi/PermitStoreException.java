package io.github.distributedpermit.spi;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A claim failed. Never means "limit reached". */
public final class PermitStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean permanent;
    private final boolean answer;

    private PermitStoreException(String message, @Nullable Throwable cause, boolean permanent, boolean answer) {
        super(message, cause);
        this.permanent = permanent;
        this.answer = answer;
    }

    /** A failure that may heal by itself: the core repeats the claim while calls wait. */
    public static PermitStoreException passing(String message, @Nullable Throwable cause) {
        return new PermitStoreException(message, cause, false, false);
    }

    /**
     * A failure that may heal by itself, of a store that answers: it can't serve this key at the moment. Unlike the other
     * {@linkplain #passing passing} failures it is no sign of an outage of the store.
     */
    public static PermitStoreException ofKey(String message) {
        return new PermitStoreException(message, null, false, true);
    }

    /** A failure that only people can mend, such as a wrong password, a missing right or a foreign type at our key. */
    public static PermitStoreException permanent(String message, @Nullable Throwable cause) {
        return new PermitStoreException(message, cause, true, true);
    }

    /**
     * A permanent failure: the data in the store was written by a newer version of this library, and versions as old as
     * this one must not use it. To be thrown before anything is written. The policy is in docs/compatibility.md.
     *
     * @param place the data, as people find it in the store
     * @param format the format of the data
     * @param minimumReader the lowest format that an instance has to know to use the data
     * @param known the highest format that this instance knows
     */
    public static PermitStoreException newerFormat(String place, int format, int minimumReader, int known) {
        return permanent(
                ("%s has format %d of a newer version of distributed-permit and needs an instance that knows format %d; this "
                                + "one knows %d. Update this instance, or stop the newer ones, or give them another "
                                + "distributed-permit.key-prefix; nothing was written")
                        .formatted(place, format, minimumReader, known),
                null);
    }

    /**
     * The failure of a stage without the {@link CompletionException} that stages which depend on it wrap around it.
     *
     * @param failure as {@code whenComplete}, {@code handle} or {@code join} deliver it
     */
    public static Throwable causeOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }

    /** The failure without secrets: only the library's own messages are known to hold no address with a password. */
    public static String describe(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return cause instanceof PermitStoreException && message != null
                ? message
                : cause.getClass().getSimpleName();
    }

    /** Whether the store has answered, so that it can be reached. */
    public boolean isAnswer() {
        return answer;
    }

    /** Whether waiting is useless. */
    public boolean isPermanent() {
        return permanent;
    }
}
