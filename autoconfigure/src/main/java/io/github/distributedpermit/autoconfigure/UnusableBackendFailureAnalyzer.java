package io.github.distributedpermit.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to add or to set, instead of a stack trace. */
final class UnusableBackendFailureAnalyzer extends AbstractFailureAnalyzer<UnusableBackendException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnusableBackendException cause) {
        return new FailureAnalysis(cause.problem() + ".", cause.remedy() + ".", cause);
    }
}
