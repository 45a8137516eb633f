package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import org.jspecify.annotations.Nullable;

/** A call that an observer is notified of without an engine. */
public record StubCall(String name, int permits) implements PermitCall {

    @Override
    public String observedName() {
        return name;
    }

    @Override
    public String key() {
        return name;
    }

    @Override
    public boolean isLost() {
        return false;
    }

    @Override
    public void attach(PermitObserver owner, Object value) {}

    @Override
    public @Nullable Object attached(PermitObserver owner) {
        return null;
    }
}
