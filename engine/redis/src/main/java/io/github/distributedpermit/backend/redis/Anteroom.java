package io.github.distributedpermit.backend.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Where calls wait, in order, until the first attempt to connect has ended. Thread-safe. */
final class Anteroom {

    static final int CAPACITY = 10_000;

    private final Deque<Call<?>> waiting = new ArrayDeque<>();
    private final Consumer<Call<?>> onward;
    private volatile boolean open;

    Anteroom(Consumer<Call<?>> onward) {
        this.onward = onward;
    }

    /** Takes the call in, unless nobody waits here any more. */
    boolean admits(Call<?> call) {
        if (open) {
            return false;
        }
        synchronized (waiting) {
            if (open) {
                return false;
            }
            if (waiting.size() < CAPACITY) {
                waiting.add(call);
                return true;
            }
        }
        call.refuse("Redis can't be reached yet, and too many calls wait for it");
        return true;
    }

    /** Lets all go on; from now on nobody waits here. */
    void open() {
        for (Call<?> call = next(); call != null; call = next()) {
            onward.accept(call);
        }
    }

    private @Nullable Call<?> next() {
        if (open) {
            return null;
        }
        synchronized (waiting) {
            Call<?> first = waiting.poll();
            open = first == null;
            return first;
        }
    }
}
