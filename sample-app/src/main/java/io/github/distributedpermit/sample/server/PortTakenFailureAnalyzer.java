package io.github.distributedpermit.sample.server;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says at start what to do about a taken port. */
final class PortTakenFailureAnalyzer extends AbstractFailureAnalyzer<PortTakenException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, PortTakenException cause) {
        return new FailureAnalysis(
                cause.getMessage() + ".",
                "Stop that, or choose another port for the sample's own %s with --%s=<port> (the same for all instances), or use one of your own with %s."
                        .formatted(
                                cause.kind().title(),
                                cause.kind().portSetting(),
                                cause.kind().settingsOfAnother()),
                cause);
    }
}
