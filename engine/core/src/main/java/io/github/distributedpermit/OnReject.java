package io.github.distributedpermit;

/** What happens to a call of a method that gets no permit, where no fallback answers it. */
public enum OnReject {
    /**
     * {@link #SKIP} for a job that does not wait, {@link #THROW} for all other methods. A job is a method that is {@code @Scheduled}, or
     * that Spring calls at the start of the application: of an {@code ApplicationRunner}, {@code CommandLineRunner} or
     * {@code SmartInitializingSingleton}, or a listener to an event of the start such as {@code ApplicationReadyEvent}.
     */
    DEFAULT,
    /** The call ends with {@link PermitRejectedException}. */
    THROW,
    /**
     * The method is not called and the call returns: nothing, {@code null}, an empty {@code Optional} or an empty
     * publisher. A store that fails still ends it with {@link PermitBackendException}.
     */
    SKIP
}
