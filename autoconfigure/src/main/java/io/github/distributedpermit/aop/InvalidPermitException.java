package io.github.distributedpermit.aop;

import org.jspecify.annotations.Nullable;

/** A {@code @DistributedPermit} that cannot work. Thrown when its bean is made, so the application does not start. */
public final class InvalidPermitException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    InvalidPermitException(String problem, String remedy) {
        this(problem, remedy, null);
    }

    InvalidPermitException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem + ". " + remedy, cause);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What is wrong and where, without a full stop. */
    public String problem() {
        return problem;
    }

    /** What to do about it. */
    public String remedy() {
        return remedy;
    }
}
