package io.github.distributedpermit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
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
        Deque<Permit> ofThread = OF_THREAD.get();
        return join(request, ofThread, (permit, longer) -> {
            List<Permit> present = List.copyOf(ofThread);
            ofThread.clear();
            present.forEach(each -> ofThread.add(Place.isSame(each, permit) ? longer.apply(each) : each));
        });
    }

    /**
     * The same among these permits.
     *
     * @param place where they are kept
     */
    public static @Nullable Permit join(PermitRequest request, Iterable<Permit> owned, Place place) {
        for (Permit permit : owned) {
            if (permit.key().equals(request.key()) && permit.permits() >= request.permits() && permit.isHeld()) {
                JoinedPermit joined = joined(permit);
                return joined == null ? new JoinedPermit(permit, place) : new JoinedPermit(joined.outer, joined.place);
            }
        }
        return null;
    }

    /**
     * Replaces the permit that a call has joined by one that is held longer, which the outer call then releases in its place.
     *
     * @param permit of the inner call
     * @return whether the call has joined it; otherwise the permit is its own
     */
    public static boolean prolong(Permit permit, UnaryOperator<Permit> longer) {
        JoinedPermit joined = joined(permit);
        if (joined != null) {
            joined.place.replace(joined.outer, longer);
        }
        return joined != null;
    }

    private static @Nullable JoinedPermit joined(Permit permit) {
        return original(permit) instanceof JoinedPermit joined ? joined : null;
    }

    private static Permit original(Permit permit) {
        Permit original = permit;
        while (original instanceof Wrapper wrapper && !(original instanceof JoinedPermit)) {
            original = wrapper.wrapped();
        }
        return original;
    }

    /**
     * Says, to other threads, whether the present thread is within the work of a permit: in a limited method, or in {@link Permits#run} or
     * one of its siblings. It never says so wrongly, but may miss it. For operators.
     */
    public static Predicate<Permit> ofThread() {
        Deque<Permit> ofThread = OF_THREAD.get();
        return permit -> {
            try {
                for (Permit each : ofThread) {
                    if (each != null && Place.isSame(each, permit)) {
                        return true;
                    }
                }
            } catch (RuntimeException e) {
                // the thread changes them meanwhile
            }
            return false;
        };
    }

    /** The levels of a nested permit, the innermost one last, each of which is released by itself; else the permit. */
    public static List<Permit> levels(Permit permit) {
        if (!(permit instanceof Nested nested)) {
            return List.of(permit);
        }
        List<Permit> levels = new ArrayList<>();
        nested.forEachLevel(levels::add);
        return levels;
    }

    /** A permit that holds another one in some way of its own, for example longer. In all else it is the other one. */
    public interface Wrapper extends Permit {

        /** The other one. */
        Permit wrapped();

        @Override
        default String name() {
            return wrapped().name();
        }

        @Override
        default String key() {
            return wrapped().key();
        }

        @Override
        default int permits() {
            return wrapped().permits();
        }

        @Override
        default PermitToken token() {
            return wrapped().token();
        }

        @Override
        default boolean isHeld() {
            return wrapped().isHeld();
        }

        @Override
        default void onLoss(Runnable listener) {
            wrapped().onLoss(listener);
        }
    }

    /** A permit of several levels, each with a key of its own. A class: that others are none takes longer to see of an interface. */
    abstract static class Nested implements Wrapper {

        /** Shows each level by itself, the innermost one last. */
        abstract void forEachLevel(Consumer<Permit> action);
    }

    /** Where a call keeps the permits that it releases at its end. */
    @FunctionalInterface
    public interface Place {

        /** Replaces a permit, which may be wrapped there, by what this makes of it. Has no effect once it was released. */
        void replace(Permit permit, UnaryOperator<Permit> longer);

        /** Whether these are the same permit, wrapped or not. */
        static boolean isSame(Permit one, Permit other) {
            return original(one) == original(other);
        }
    }

    /** How many permits of the key the work of the current thread has, still held. A joined permit is that of the outer call. */
    public static int permitsOf(String key) {
        Deque<Permit> ofThread = OF_THREAD.get();
        if (ofThread.isEmpty()) { // most calls are not nested, and need no set
            return 0;
        }
        Set<Permit> counted = Collections.newSetFromMap(new IdentityHashMap<>());
        int permits = 0;
        for (Permit permit : ofThread) {
            JoinedPermit joined = joined(permit);
            Permit taken = joined == null ? permit : joined.outer;
            if (taken.key().equals(key) && taken.isHeld() && counted.add(original(taken))) {
                permits += taken.permits();
            }
        }
        return permits;
    }

    /** Opens a scope on the current thread, within those that are open. */
    public static Scope open() {
        return new Scope(OF_THREAD.get());
    }

    /** A scope for the work of one permit, which is released at its end. If it cannot be opened, the permit is released. */
    static Work begin(Permit permit) {
        try {
            return new Work(open(), permit);
        } catch (RuntimeException | Error e) {
            permit.close();
            throw e;
        }
    }

    /** Work with one permit, which may be a nested one. For one thread. */
    static final class Work implements AutoCloseable {

        private final Scope scope;

        private Work(Scope scope, Permit permit) {
            this.scope = scope;
            scope.add(permit);
        }

        /** Releases the permit, or what an inner call has made of it, see {@link #prolong}; of nested ones each level. */
        @Override
        public void close() {
            Permit permit = scope.removeLast();
            try {
                if (permit != null) {
                    permit.close();
                }
            } finally {
                if (permit != null) {
                    close();
                }
            }
        }
    }

    /** The permits of one piece of work. Scopes of a thread are closed in reverse order. For one thread. */
    public static final class Scope implements AutoCloseable {

        private final Deque<Permit> ofThread;
        private final int outer;

        private Scope(Deque<Permit> ofThread) {
            this.ofThread = ofThread;
            this.outer = ofThread.size();
        }

        /** Adds a permit, which becomes the current one. The levels of a nested one are added by themselves, since calls may join each. */
        public void add(Permit permit) {
            if (permit instanceof Nested nested) {
                nested.forEachLevel(ofThread::push);
            } else {
                ofThread.push(permit);
            }
        }

        /** Removes the permit that was added last to this scope, without releasing it; {@code null} if there is none. */
        public @Nullable Permit removeLast() {
            return ofThread.size() > outer ? ofThread.pop() : null;
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
