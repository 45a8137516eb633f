package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import java.net.URI;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Permits in Consul, each bound to a session of the member that holds it. Thread-safe; every store it makes has one
 * thread of its own.
 */
public final class ConsulPermitBackend implements PermitBackend {

    private static final int HTTP = 80;
    private static final int HTTPS = 443;

    /** The name of this backend, as in {@code distributed-permit.backend}. */
    public static final String NAME = "consul";

    /** The highest limit of a key. */
    public static final int MAX_LIMIT = GrantVersion.MAX_LIMIT;

    /** How long a key that is not used keeps what is known of it. */
    private static final Duration IDLE = Duration.ofSeconds(5);

    private static final Duration SLICE = Duration.ofMillis(20);

    private final ConsulSettings settings;
    private final LongSupplier ticker;

    /** Measures time by the system's monotonic clock. */
    public ConsulPermitBackend(ConsulSettings settings) {
        this(settings, System::nanoTime);
    }

    /**
     * Connects with the first store that is made.
     *
     * @param ticker the monotonic clock, nanoseconds; the same that the members use
     */
    public ConsulPermitBackend(ConsulSettings settings, LongSupplier ticker) {
        this.settings = settings;
        this.ticker = ticker;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String address() {
        URI address = settings.address();
        int usual = "https".equalsIgnoreCase(address.getScheme()) ? HTTPS : HTTP;
        return address.getHost() + ":" + (address.getPort() < 0 ? usual : address.getPort());
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        return join(store(member), member, listener);
    }

    ConsulSnapshotStore store(Member member) {
        return new ConsulSnapshotStore(settings, member, ticker);
    }

    PermitStore join(ConsulSnapshotStore store, Member member, HoldingListener listener) {
        return new SnapshotPermitStore<>(
                store, member, listener, ticker, store.loop().scheduler(), IDLE);
    }

    @Override
    public int highestLimit() {
        return MAX_LIMIT;
    }

    /** A claim takes a few milliseconds here; a slice much shorter than that would do nothing but claim. */
    @Override
    public Duration handOverSlice() {
        return SLICE;
    }
}
