package io.github.distributedpermit.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * What a JVM needs one of, such as a server: made when it is first needed. If that fails, the next test tries again, while a
 * static initializer that fails makes its class unusable. Thread-safe.
 */
public final class Once<T> {

    /** Makes it. */
    @FunctionalInterface
    public interface Maker<T> {
        T make() throws IOException;
    }

    private final Maker<T> maker;
    private @Nullable T made;

    public Once(Maker<T> maker) {
        this.maker = maker;
    }

    /** Others wait while it is made. */
    public synchronized T get() {
        T known = made;
        if (known == null) {
            try {
                known = maker.make();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            made = known;
        }
        return known;
    }
}
