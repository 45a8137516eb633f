package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.aop.InvalidPermitException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what is wrong with an annotation or the store, and what to do, instead of a stack trace. */
final class InvalidPermitFailureAnalyzer extends AbstractFailureAnalyzer<InvalidPermitException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidPermitException cause) {
        return new FailureAnalysis(cause.problem() + ".", cause.remedy() + ".", cause);
    }
}
