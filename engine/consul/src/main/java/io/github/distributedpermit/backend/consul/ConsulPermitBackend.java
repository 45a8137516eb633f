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
 *
 * <p>Each member gets a {@link ConsulSnapshotStore} behind a {@link SnapshotPermitStore}, and an event loop that both
 * share.
 */
public final class ConsulPermitBackend implements PermitBackend {

    /** The ports of an address that names none. */
    private static final int HTTP = 80;

    private static final int HTTPS = 443;

    /** The name of this backend, as in {@code distributed-permit.backend}. */
    public static final String NAME = "consul";

    /** The highest limit of a key. */
    public static final int MAX_LIMIT = GrantVersion.MAX_LIMIT;

    /**
     * How long a key that is not used keeps what is known of it. The layer releases it then, which only frees memory:
     * a member without permits has no entries in Consul.
     */
    private static final Duration IDLE = Duration.ofSeconds(5);

    /** How long permits pass between the calls of one member while other members wait; see mapping.md. */
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

    /** Without user and path, because the address is shown in metrics and messages. */
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

    /** Apart from {@link #join}, so that tests can reach the store. */
    ConsulSnapshotStore store(Member member) {
        return new ConsulSnapshotStore(settings, member, ticker);
    }

    PermitStore join(ConsulSnapshotStore store, Member member, HoldingListener listener) {
        return new SnapshotPermitStore<>(
                store, member, listener, ticker, store.loop().scheduler(), IDLE);
    }

    /** Limits above it are refused at the start of the application instead of at the first claim. */
    @Override
    public int highestLimit() {
        return MAX_LIMIT;
    }
}
