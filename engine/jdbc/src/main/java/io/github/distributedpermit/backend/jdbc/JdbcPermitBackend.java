package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/**
 * Permits in PostgreSQL, MySQL, MariaDB or H2. The limit holds among all members with the same database, tables and prefix.
 * Thread-safe.
 *
 * <p>Each member keeps two connections open, each with a thread of its own, and never takes part in a transaction of the
 * application.
 */
public final class JdbcPermitBackend implements PermitBackend {

    /** The name of this backend, as in {@code distributed-permit.backend}. */
    public static final String NAME = "jdbc";

    /** How long an unused key is remembered in memory; the row in the database stays longer. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final DataSource source;
    private final String address;
    private final JdbcSettings settings;
    private final LongSupplier ticker;

    /**
     * Does not connect yet.
     *
     * @param source two connections of it are kept open; stays the caller's to close, after the stores
     * @param address host and port of the database, for messages
     */
    public JdbcPermitBackend(DataSource source, String address, JdbcSettings settings) {
        this(source, address, settings, System::nanoTime);
    }

    /** For tests that drive the clock. */
    JdbcPermitBackend(DataSource source, String address, JdbcSettings settings, LongSupplier ticker) {
        this.source = source;
        this.address = address;
        this.settings = settings;
        this.ticker = ticker;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String address() {
        return address;
    }

    /**
     * Looks whether the tables are there and may be used, over a connection of its own that it closes.
     *
     * @throws PermitStoreException permanent if they cannot be used, passing if the database does not answer
     */
    public void checkTables() {
        JdbcClient client = new JdbcClient(
                new JdbcLink(source, settings, Optional.empty()), settings, "", new LiveMembers(), ticker);
        try {
            client.check();
        } finally {
            client.close();
        }
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        LiveMembers live = new LiveMembers();
        ScheduledThreadPoolExecutor claims = thread("claims", member);
        BatchingSnapshotStore<JdbcSnapshot> store = new BatchingSnapshotStore<>(
                client(member, live, Optional.empty()),
                client(member, live, Optional.of(JdbcClient.channel(member.id()))),
                member.id(),
                settings.session(),
                ticker,
                claims,
                thread("session", member));
        // A return waits there until the statement under way has ended, and leaves with the claims that came meanwhile.
        return new SnapshotPermitStore<>(store, member, listener, ticker, claims, IDLE);
    }

    private JdbcClient client(Member member, LiveMembers live, Optional<String> channel) {
        return new JdbcClient(new JdbcLink(source, settings, channel), settings, member.name(), live, ticker);
    }

    /** A daemon thread. Tasks after the close are dropped, because events of the layer may still arrive then. */
    private static ScheduledThreadPoolExecutor thread(String role, Member member) {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread created = new Thread(task, "distributed-permit-jdbc-" + role + "-" + member.id());
            created.setDaemon(true);
            return created;
        });
        thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return thread;
    }
}
