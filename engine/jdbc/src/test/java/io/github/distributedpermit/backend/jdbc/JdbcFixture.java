package io.github.distributedpermit.backend.jdbc;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.SessionStoreFixture;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.step.KeyTable;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A prefix of its own in a database that several tests share. */
final class JdbcFixture implements SessionStoreFixture, PermitBackend {

    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration EMPTIED = Duration.ofMillis(20);
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final JdbcSettings settings = new JdbcSettings(
            "test-" + COUNT.incrementAndGet(), JdbcSettings.DEFAULT_TABLE_PREFIX, SESSION, COMMAND_TIMEOUT, EMPTIED);
    private final JdbcPermitBackend backend;
    private final JdbcLink link;
    private final JdbcClient observer;
    private final Map<PermitStore, String> ids = new ConcurrentHashMap<>();

    JdbcFixture(Database database) {
        backend = new JdbcPermitBackend(database.source(), "", settings);
        link = new JdbcLink(database.source(), settings, Optional.empty());
        observer = new JdbcClient(link, settings, "observer", new LiveMembers(), System::nanoTime);
        observer.begin("observer~0", SESSION); // before the first member there is no epoch to look at
        observer.end("observer~0");
    }

    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        PermitStore store = backend.join(member, listener);
        ids.put(store, member.id());
        return store;
    }

    @Override
    public PermitBackend backend() {
        return this;
    }

    @Override
    public Duration lease() {
        return SESSION;
    }

    @Override
    public synchronized KeySnapshot look(String key) {
        String name = KeyEncoding.encode(key);
        JdbcClient fresh = new JdbcClient(link, settings, "observer", new LiveMembers(), System::nanoTime);
        JdbcSnapshot seen = Objects.requireNonNull(fresh.read(List.of(name)).get(name));
        KeyTable table = seen.table();
        List<KeySnapshot.Row> rows = table.records().stream()
                .map(r ->
                        new KeySnapshot.Row(seen.process(r.member()), r.permits(), r.wanted(), r.limit(), r.isQueued()))
                .toList();
        return new KeySnapshot(table.used(), table.override(), rows);
    }

    /** Without the rows of members, which stay while these live. */
    @Override
    public synchronized Collection<String> residue() {
        return names("SELECT name FROM distributed_permit_key WHERE name LIKE ?", settings.prefix() + ":%");
    }

    private List<String> names(String sql, String value) {
        List<String> names = new ArrayList<>();
        try (PreparedStatement p = link.connection().prepareStatement(sql)) {
            p.setString(1, value);
            try (ResultSet rows = p.executeQuery()) {
                while (rows.next()) {
                    names.add(rows.getString(1));
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return names;
    }

    /** The members delete rows of unused keys at their renewals; after the last one has left, the observer does. */
    @Override
    public void passIdleTime() {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(10))
                .until(this::isSwept);
    }

    private synchronized boolean isSwept() {
        try {
            Statements statements = link.statements();
            Sql.update(link.connection(), statements.of(statements.dialect().sweep));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return names(
                        "SELECT name FROM distributed_permit_key WHERE document = '' AND name LIKE ?",
                        settings.prefix() + ":%")
                .isEmpty();
    }

    /**
     * Its row is deleted as if it had expired, and the process does not notice that. It has one before long: a session that
     * began after its end would stay alive.
     */
    @Override
    public void die(PermitStore store) {
        await().atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> endsSessionOf(Objects.requireNonNull(ids.get(store))));
    }

    private synchronized boolean endsSessionOf(String id) {
        try (PreparedStatement p =
                link.connection().prepareStatement("DELETE FROM distributed_permit_member WHERE id LIKE ?")) {
            p.setString(1, id + "~%");
            return p.executeUpdate() > 0;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        observer.close();
    }
}
