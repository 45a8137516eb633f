package io.github.distributedpermit.aop.async;

import io.github.distributedpermit.PermitRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call of a limited method, whose parts a {@link HoldStrategy} puts together. Its methods may be called on any thread
 * and more than once: a publisher calls them for each subscription.
 */
public interface LimitedCall {

    /** Calls the method itself, without taking any permit. */
    @Nullable
    Object proceed() throws Throwable;

    /**
     * Begins to take the permits without blocking the thread. Never throws; the acquisition ends with what failed.
     *
     * @param outer what the caller holds, for permits that join one of these
     */
    Acquisition acquire(@Nullable PermitBundle outer);

    /**
     * Takes the permits on the calling thread, which waits, and does the work with them. They are released when the work
     * returns or throws, unless it has taken them over. The fallback's value passes through {@code answered}.
     */
    @Nullable
    Object whileHolding(Work work, Answered answered) throws Throwable;

    /** What {@link #acquire} asks for. */
    List<PermitRequest> requests();

    /** The method, for messages. */
    String description();

    /** Work that needs the permits. */
    @FunctionalInterface
    interface Work {

        /**
         * Does the work.
         *
         * @param permits what the calling thread holds for it
         */
        @Nullable
        Object run(ThreadPermits permits) throws Throwable;
    }

    /** Turns the fallback's value into what the caller gets. */
    @FunctionalInterface
    interface Answered {

        /** Converts the value. */
        @Nullable
        Object apply(@Nullable Object fallback) throws Throwable;
    }

    /** The permits that the calling thread holds for one call. */
    @FunctionalInterface
    interface ThreadPermits {

        /** Takes them over: from now on the caller of this method releases them. */
        PermitBundle detach();
    }
}
