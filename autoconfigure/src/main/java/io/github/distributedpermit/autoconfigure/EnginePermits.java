package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;

/** The bean that applications inject. A test may replace it; the engine and all that needs it stay. */
record EnginePermits(PermitEngine engine) implements Permits {

    @Override
    public NamedPermits named(String name) {
        return engine.named(name);
    }

    @Override
    public long nanoTime() {
        return engine.nanoTime();
    }
}
