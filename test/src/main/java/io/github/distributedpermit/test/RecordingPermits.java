package io.github.distributedpermit.test;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permits;

/** The application's permits, with a log of what is done with them. Thread-safe. */
final class RecordingPermits implements Permits {

    private final Permits permits;
    private final PermitLog log;

    RecordingPermits(Permits permits, PermitLog log) {
        this.permits = permits;
        this.log = log;
    }

    PermitLog log() {
        return log;
    }

    @Override
    public NamedPermits named(String name) {
        return new RecordingNamedPermits(permits.named(name), log);
    }

    @Override
    public long nanoTime() {
        return permits.nanoTime();
    }
}
