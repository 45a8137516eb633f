package io.github.distributedpermit;

/** What happens to a call of a method that gets no permit, where no fallback answers it. */
public enum OnReject {
    /** {@link #SKIP} for a {@code @Scheduled} method that does not wait, {@link #THROW} for all others. */
    DEFAULT,
    /** The call ends with {@link PermitRejectedException}. */
    THROW,
    /**
     * The method is not called and the call returns: nothing, {@code null}, an empty {@code Optional} or an empty
     * publisher. A store that fails still ends it with {@link PermitBackendException}.
     */
    SKIP
}
