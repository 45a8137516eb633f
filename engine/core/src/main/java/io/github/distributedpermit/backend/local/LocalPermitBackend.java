package io.github.distributedpermit.backend.local;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.step.Step;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Permits in the memory of this process: the limit holds among the members that joined this very object. For a single
 * instance and for tests. Thread-safe; it has no thread of its own, and claims are answered before they return.
 */
public final class LocalPermitBackend implements PermitBackend {

    /** The name of this backend, as in {@code distributed-permit.backend}. */
    public static final String NAME = "local";

    private static final System.Logger LOG = System.getLogger(LocalPermitBackend.class.getName());
    private static final Duration TOMBSTONE = Duration.ofSeconds(30);

    private final Map<String, HoldingListener> listeners = new ConcurrentHashMap<>();
    private final Map<String, String> names = new ConcurrentHashMap<>();

    /** How many listeners there are: a map would have to count them, and every limited call asks. */
    private final AtomicInteger members = new AtomicInteger();

    final LocalKeys keys;

    /** Leases run on the system's monotonic clock. */
    public LocalPermitBackend() {
        this(System::nanoTime);
    }

    /**
     * Leases run on the given clock.
     *
     * @param ticker monotonic, nanoseconds
     */
    public LocalPermitBackend(LongSupplier ticker) {
        this.keys = new LocalKeys(ticker, TOMBSTONE, this::notifyServed);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        if (listeners.putIfAbsent(member.id(), listener) != null) {
            throw new IllegalStateException("Member " + member + " has joined already; a new start needs a new id");
        }
        names.put(member.id(), member.name());
        members.incrementAndGet();
        listeners.forEach((id, other) -> {
            if (!id.equals(member.id())) {
                keys.ofMember(id).forEach(key -> safely(() -> other.changed(key)));
            }
        });
        return new LocalPermitStore(member.id(), keys, this);
    }

    /** The member has left. */
    void left(String member) {
        names.remove(member);
        if (listeners.remove(member) != null) {
            members.decrementAndGet();
        }
    }

    /** The readable name of a member; empty if it has left. */
    Optional<String> nameOf(String member) {
        return Optional.ofNullable(names.get(member));
    }

    /** Whether several members may want permits. */
    boolean isShared() {
        return members.get() > 1;
    }

    /** Calls the listeners of the members that a step has served, without any lock. */
    private void notifyServed(String key, Step step) {
        step.served().forEach((member, holding) -> {
            HoldingListener listener = listeners.get(member);
            if (listener != null) {
                safely(() -> listener.granted(key, holding));
            }
        });
    }

    private static void safely(Runnable notification) {
        try {
            notification.run();
        } catch (RuntimeException e) {
            // the operation that caused the notification must not fail, and a re-check makes up for a lost notification
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A member of the local store failed to handle a notification; it asks again at its next re-check",
                    e);
        }
    }
}
