package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.InvalidPermitException;

/** The application has no store for permits, or one that cannot be used; it does not start. */
final class UnusableBackendException extends InvalidPermitException {

    private static final long serialVersionUID = 1L;

    UnusableBackendException(String problem, String remedy) {
        super(problem, remedy);
    }
}
