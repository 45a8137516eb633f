package io.github.distributedpermit.aop;

import org.jspecify.annotations.Nullable;

/**
 * A {@code @DistributedPermit} that cannot work, or a store that cannot be used. Thrown when a bean is made, so the application does not
 * start.
 */
public class InvalidPermitException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    /** The problem and the remedy, each without a full stop. */
    protected InvalidPermitException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    InvalidPermitException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + ". " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What is wrong and where, without a full stop. */
    public final String problem() {
        return problem;
    }

    /** What to do about it. */
    public final String remedy() {
        return remedy;
    }
}
