package io.github.distributedpermit;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The permits that belong to the work which the current thread does: those of limited methods that it is in, and those of
 * {@link Permits#run} and its siblings. {@link Permits#current()} reads it. Permits that code acquires itself are not in
 * it, since the code has them.
 *
 * <p>Whoever runs work on another thread, such as an executor that carries contexts, opens a scope there, adds the permits
 * of the work, and closes the scope when the work leaves the thread. A scope belongs to the thread that opened it.
 */
public final class PermitContext {

    /** Empty between calls, and of classes of the JDK: a pooled thread keeps nothing of the application. */
    private static final ThreadLocal<Deque<Permit>> OF_THREAD = ThreadLocal.withInitial(ArrayDeque::new);

    private PermitContext() {}

    /** The permit that was added last. */
    static Optional<Permit> current() {
        return Optional.ofNullable(OF_THREAD.get().peek());
    }

    /** The permit of this name that was added last. */
    static Optional<Permit> current(String name) {
        for (Permit permit : OF_THREAD.get()) {
            if (permit.name().equals(name)) {
                return Optional.of(permit);
            }
        }
        return Optional.empty();
    }

    /**
     * The permit of the request's key that the current thread has already, for a call that joins it: with at least as many
     * permits, and still held. Releasing it leaves it with its owner. {@code null} if there is none.
     */
    public static @Nullable Permit join(PermitRequest request) {
        return join(request, OF_THREAD.get());
    }

    /** The same among these permits. */
    public static @Nullable Permit join(PermitRequest request, Iterable<Permit> owned) {
        for (Permit permit : owned) {
            if (canJoin(permit, request)) {
                return new JoinedPermit(permit);
            }
        }
        return null;
    }

    private static boolean canJoin(Permit permit, PermitRequest request) {
        return permit.key().equals(request.key()) && permit.permits() >= request.permits() && permit.isHeld();
    }

    /** Opens a scope on the current thread, within those that are open. */
    public static Scope open() {
        return new Scope(OF_THREAD.get());
    }

    /** The permits of one piece of work. Scopes of a thread are closed in reverse order. For one thread. */
    public static final class Scope implements AutoCloseable {

        private final Deque<Permit> ofThread;
        private final int outer;

        private Scope(Deque<Permit> ofThread) {
            this.ofThread = ofThread;
            this.outer = ofThread.size();
        }

        /** Adds a permit, which becomes the current one. */
        public void add(Permit permit) {
            ofThread.push(permit);
        }

        /** Removes the permit that was added last to this scope, without releasing it; {@code null} if there is none. */
        public @Nullable Permit removeLast() {
            return ofThread.size() > outer ? ofThread.pop() : null;
        }

        /** How many permits of the key are in this scope and those around it. */
        public int permitsOf(String key) {
            int permits = 0;
            if (!ofThread.isEmpty()) { // most calls are not nested, and need no iterator
                for (Permit permit : ofThread) {
                    permits += permit.key().equals(key) && !(permit instanceof JoinedPermit) ? permit.permits() : 0;
                }
            }
            return permits;
        }

        /** Removes the permits of this scope from the thread, without releasing them. */
        @Override
        public void close() {
            while (ofThread.size() > outer) {
                ofThread.pop();
            }
        }
    }
}
