package io.github.distributedpermit.autoconfigure;

/** The application has no store for permits, or one that cannot be used; it does not start. */
final class UnusableBackendException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    UnusableBackendException(String problem, String remedy) {
        super(problem + ". " + remedy);
        this.problem = problem;
        this.remedy = remedy;
    }

    String problem() {
        return problem;
    }

    String remedy() {
        return remedy;
    }
}
