package io.github.distributedpermit.sample.redis;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says at start what to do about a taken port. */
final class PortTakenFailureAnalyzer extends AbstractFailureAnalyzer<PortTakenException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, PortTakenException cause) {
        return new FailureAnalysis(
                cause.getMessage() + ".",
                "Stop that, or choose another port for the sample's own Redis with"
                        + " --sample.embedded-redis.port=<port> (the same for all instances), or use a Redis of your own"
                        + " with --spring.data.redis.host=<host> --spring.data.redis.port=<port>.",
                cause);
    }
}
