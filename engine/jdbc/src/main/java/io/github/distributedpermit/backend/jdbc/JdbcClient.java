package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore.Change;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore.Renewal;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import io.github.distributedpermit.spi.step.Step;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A member's access to the database over one connection. Each read and each change of a key is one statement, and a batch of
 * changes one transaction. Confined to one thread; two clients of a member share its {@link LiveMembers}.
 *
 * <p>A change is made only if the row has the revision of the snapshot, the session of the member has a row, and the database
 * has lost no state since the snapshot. So a member whose session was ended by others changes nothing any more, whatever it
 * still sends.
 */
final class JdbcClient implements BatchingSnapshotStore.Client<JdbcSnapshot> {

    private static final System.Logger LOG = System.getLogger(JdbcClient.class.getName());
    private static final int EVICTION_ATTEMPTS = 20;
    /** How often rows of unused keys are deleted. */
    private static final long SWEEP_NANOS = TimeUnit.MINUTES.toNanos(10);

    private interface Work<T> {
        T in(Connection connection, Statements statements) throws SQLException;
    }

    private final JdbcLink link;
    private final JdbcSettings settings;
    private final KeyRows rows;
    private final Membership membership;
    private final LongSupplier ticker;
    private long swept;
    /** Whether the last deletion of rows of unused keys may have left some. */
    private boolean unusedLeft;

    private int failedSweeps;
    /** The last of the rows of dead members that were cleared; empty once all were. */
    private List<String> orphans = List.of();

    JdbcClient(JdbcLink link, JdbcSettings settings, String readableName, LiveMembers live, LongSupplier ticker) {
        this.link = link;
        this.settings = settings;
        this.rows = new KeyRows(settings.prefix(), live);
        this.membership = new Membership(settings, readableName, live);
        this.ticker = ticker;
        this.swept = ticker.getAsLong();
    }

    /** Where notices for a member arrive: an identifier, whatever the id of the member is. */
    static String channel(String member) {
        UUID id = UUID.nameUUIDFromBytes(member.getBytes(StandardCharsets.UTF_8));
        return "dp_" + id.toString().replace("-", "");
    }

    @Override
    public Map<String, JdbcSnapshot> read(Collection<String> names) {
        return run((c, s) -> rows.read(c, s, names));
    }

    /** Whether the tables are there and may be used; fails otherwise. */
    void check() {
        run((c, s) -> {
            rows.check(c, s);
            membership.check(c, s);
            return s;
        });
    }

    /** Rows that are created and rows that are changed in a transaction each. */
    @Override
    public List<Commit<JdbcSnapshot>> commit(List<Change<JdbcSnapshot>> changes) {
        try {
            link.connection();
        } catch (SQLException e) {
            return Collections.nCopies(changes.size(), new Commit.Denied<>(failure(e)));
        }
        Map<String, Commit<JdbcSnapshot>> outcomes = new HashMap<>();
        // In one order in all processes, so that two batches do not wait for each other's rows.
        changes.stream()
                .filter(change -> rows.isCurrent(change.planned().before().epoch()))
                .sorted(Comparator.comparing(Change::name))
                .collect(Collectors.partitioningBy(JdbcClient::isInsert))
                .values()
                .forEach(some -> commit(some, outcomes));
        Map<String, Step> done = new HashMap<>();
        for (Change<JdbcSnapshot> change : changes) {
            if (outcomes.get(change.name()) instanceof Commit.Done<JdbcSnapshot>) {
                done.put(change.name(), change.planned().step());
            }
        }
        notifyServed(done);
        return changes.stream()
                .map(change -> outcomes.getOrDefault(change.name(), new Commit.Conflict<>()))
                .toList();
    }

    private void commit(List<Change<JdbcSnapshot>> some, Map<String, Commit<JdbcSnapshot>> outcomes) {
        List<Commit<JdbcSnapshot>> together = some.size() > 1 ? commitTogether(some) : List.of();
        for (int i = 0; i < some.size(); i++) {
            outcomes.put(some.get(i).name(), together.isEmpty() ? commitAlone(some.get(i)) : together.get(i));
        }
    }

    /**
     * After the commit, so that only grants that stand are notified. Within its transaction all that notify would wait for each
     * other's commits to reach the disk.
     */
    private void notifyServed(Map<String, Step> done) {
        List<String> channels = new ArrayList<>();
        List<String> names = new ArrayList<>();
        done.forEach((name, step) -> step.served().keySet().forEach(session -> {
            channels.add(channel(BatchingSnapshotStore.process(session)));
            names.add(name);
        }));
        if (channels.isEmpty()) {
            return;
        }
        try {
            run((c, s) -> s.dialect().send() == null
                    ? 0
                    : Sql.update(
                            c,
                            s.dialect().send(),
                            c.createArrayOf("text", channels.toArray()),
                            c.createArrayOf("text", names.toArray())));
        } catch (PermitStoreException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "Members were not notified; they find their grants by their re-checks",
                    e);
        }
    }

    @Override
    public Optional<Set<String>> notices(Duration atMost) {
        return run((c, s) -> {
            Notices received = link.notices();
            return received == null ? Optional.empty() : received.await(atMost);
        });
    }

    /** Empty if the database refused all of them, so that the one which it refused is found one by one. */
    private List<Commit<JdbcSnapshot>> commitTogether(List<Change<JdbcSnapshot>> some) {
        boolean begins = false;
        try {
            Connection c = link.connection();
            Statements s = link.statements();
            begins = !s.dialect().sendsBatches();
            c.setAutoCommit(!begins);
            int[] counts = execute(c, s, some);
            if (begins) {
                c.commit();
                c.setAutoCommit(true);
            }
            return IntStream.range(0, counts.length)
                    .mapToObj(i -> outcome(some.get(i), counts[i]))
                    .toList();
        } catch (SQLException e) {
            return link.failed(e, begins)
                    ? List.of()
                    : Collections.nCopies(some.size(), new Commit.OutcomeUnknown<>(failure(e)));
        } catch (RuntimeException | Error e) {
            link.discard(); // its transaction may be open, which later changes would become part of
            throw e;
        }
    }

    private int[] execute(Connection c, Statements s, List<Change<JdbcSnapshot>> some) throws SQLException {
        int[] counts = new int[some.size()];
        boolean batch = s.dialect().sendsBatches();
        try (PreparedStatement p = c.prepareStatement(statement(s, some.get(0)))) {
            for (int i = 0; i < counts.length; i++) {
                Sql.bind(p, arguments(some.get(i)));
                if (batch) {
                    p.addBatch();
                } else {
                    counts[i] = p.executeUpdate();
                }
            }
            return batch ? p.executeBatch() : counts;
        }
    }

    private Commit<JdbcSnapshot> commitAlone(Change<JdbcSnapshot> change) {
        try {
            Connection c = link.connection();
            Statements s = link.statements();
            return outcome(change, Sql.update(c, statement(s, change), arguments(change)));
        } catch (SQLException e) {
            if (!link.failed(e, false)) {
                return new Commit.OutcomeUnknown<>(failure(e));
            }
            return SqlFailures.isConflict(e) ? new Commit.Conflict<>() : new Commit.Denied<>(failure(e));
        }
    }

    private static boolean isInsert(Change<JdbcSnapshot> change) {
        return change.planned().before().revision() == 0;
    }

    private static String statement(Statements s, Change<JdbcSnapshot> change) {
        return s.of(isInsert(change) ? s.dialect().insert : Statements.UPDATE);
    }

    private Object[] arguments(Change<JdbcSnapshot> change) {
        JdbcSnapshot before = change.planned().before();
        return arguments(
                rows.name(change.name()),
                before,
                after(change),
                change.planned().member());
    }

    private static Object[] arguments(String row, JdbcSnapshot before, JdbcSnapshot after, String session) {
        long epoch = after.epoch().number();
        List<Object> values =
                new ArrayList<>(List.of(after.revision(), after.version(), epoch, after.pool(), after.encode(), row));
        if (before.revision() > 0) {
            values.add(before.revision());
        }
        values.addAll(List.of(session, epoch));
        return values.toArray();
    }

    private static JdbcSnapshot after(Change<JdbcSnapshot> change) {
        return change.planned().before().with(change.planned().after());
    }

    /**
     * A change that was not made is a conflict, also if the session has ended: then the next renewal shows it, and the layer
     * repeats the change until then.
     */
    private static Commit<JdbcSnapshot> outcome(Change<JdbcSnapshot> change, int count) {
        return count == 0 ? new Commit.Conflict<>() : new Commit.Done<>(after(change));
    }

    /** The row keeps the record, without permits, so that the member receives the loss as its new state. */
    @Override
    public int evict(String name, String process) throws SQLException {
        for (int attempt = 0; attempt < EVICTION_ATTEMPTS; attempt++) {
            JdbcSnapshot before = run((c, s) -> rows.read(c, s, List.of(name))).get(name);
            PermitRecord record = before == null ? null : heldBy(process, before);
            if (before == null || record == null) {
                return 0;
            }
            KeyTable table = before.table();
            Step step = table.evict(record.member(), before.version());
            if (evict(rows.name(name), record.member(), before, before.with(table))) {
                notifyServed(Map.of(name, step));
                return record.permits();
            }
        }
        throw PermitStoreException.passing(
                "Other members changed the key at each attempt to take permits; try again", null);
    }

    private static @Nullable PermitRecord heldBy(String process, JdbcSnapshot snapshot) {
        return snapshot.table().records().stream()
                .filter(r -> snapshot.process(r.member()).equals(process) && r.permits() > 0)
                .findFirst()
                .orElse(null);
    }

    /** In one transaction with the mark that makes the member look. The session that has to live is that of the member itself. */
    private boolean evict(String row, String session, JdbcSnapshot before, JdbcSnapshot after) throws SQLException {
        try {
            Connection c = link.connection();
            Statements s = link.statements();
            c.setAutoCommit(false);
            boolean done = Sql.update(c, s.of(Statements.UPDATE), arguments(row, before, after, session)) > 0;
            if (done) {
                Sql.update(c, s.of(Statements.MARK_EVICTED), session);
            }
            c.commit();
            c.setAutoCommit(true);
            return done;
        } catch (SQLException e) {
            link.failed(e, true);
            throw failure(e);
        } catch (RuntimeException | Error e) {
            link.discard(); // as after a batch
            throw e;
        }
    }

    /** No name of a key has a colon: the others are of prefixes that begin like this one. */
    @Override
    public List<String> keyNames(int most) {
        int begin = settings.prefix().length() + 1;
        List<String> found = run((c, s) -> Sql.query(
                c, s.of(Statements.KEYS), KeyRows::texts, settings.prefix() + ':', settings.prefix() + ';', most));
        return found.stream()
                .filter(row -> row.lastIndexOf(':') == begin - 1)
                .map(row -> row.substring(begin))
                .toList();
    }

    @Override
    public long begin(String session, Duration length) {
        return run((c, s) -> membership.begin(c, s, session, length));
    }

    @Override
    public Renewal renew(String session, Duration length, Duration valid) {
        Renewal renewal = run((c, s) -> membership.renew(c, s, session, length, valid));
        boolean evicted = renewal.alive() && lookAtMembers(session);
        return new Renewal(renewal.alive(), evicted, renewal.epoch());
    }

    /** Not evicted if this fails, since the renewal counts. */
    private boolean lookAtMembers(String session) {
        boolean evicted = false;
        try {
            evicted = run((c, s) -> membership.lookAtMembers(c, s, session));
            sweep(session);
        } catch (PermitStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, "Expired members could not be looked for; the next renewal does", e);
        }
        return evicted;
    }

    /** Each instance does it, since there is little to delete for the second one. The next renewal goes on, so that none is late. */
    private void sweep(String session) {
        long now = ticker.getAsLong();
        boolean due = now - swept >= Math.min(SWEEP_NANOS, settings.emptied().toNanos());
        if (due) {
            swept = now;
        }
        if (due || unusedLeft) {
            unusedLeft = deleteUnused();
        }
        if (due) {
            run((c, s) -> s.dialect().oldSnapshot() == null
                    ? false
                    : Sql.query(c, s.of(s.dialect().oldSnapshot()), this::warn));
        }
        if (due || !orphans.isEmpty()) {
            clearOrphans(session);
        }
    }

    /** @return whether there may be more */
    private boolean deleteUnused() {
        try {
            int deleted = run((c, s) -> Sql.update(c, s.of(s.dialect().sweep)));
            failedSweeps = 0;
            return deleted >= Statements.UNUSED;
        } catch (PermitStoreException e) {
            failedSweeps++;
            LOG.log(
                    failedSweeps == 2 ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                    () ->
                            "Rows of unused keys could not be deleted from table %skey %d times in a row, and accumulate there. The next attempt is in ten minutes; end what keeps these rows locked or the statement slow"
                                    .formatted(settings.tablePrefix(), failedSweeps),
                    e);
            return false;
        }
    }

    private void clearOrphans(String session) {
        String from = orphans.isEmpty() ? settings.prefix() + ':' : orphans.get(orphans.size() - 1);
        List<String> found = run((c, s) -> Sql.query(
                c, s.of(Statements.FIND_ORPHANS), KeyRows::texts, from, settings.prefix() + ';', settings.prefix()));
        // No name of a key has a colon: the others are of prefixes that begin like this one, and of other epochs.
        found.stream()
                .filter(row -> row.lastIndexOf(':') == settings.prefix().length())
                .forEach(row -> clear(row, session));
        orphans = found.size() < Statements.ORPHANS ? List.of() : found;
    }

    /** Removes what members have left that have died, if it is unchanged. So the row may be empty, and is deleted later. */
    private void clear(String row, String session) {
        String name = row.substring(settings.prefix().length() + 1);
        try {
            JdbcSnapshot before = Objects.requireNonNull(read(List.of(name)).get(name));
            run((c, s) -> Sql.update(
                    c, s.of(Statements.UPDATE), arguments(row, before, before.with(before.table()), session)));
        } catch (PermitStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, "Row '%s' stays as it is".formatted(row), e);
        }
    }

    private boolean warn(ResultSet old) throws SQLException {
        boolean found = old.next();
        if (found) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    ("Claims of permits become slower: the transaction of process %d, open for %d s, keeps %d dead rows of their"
                                    + " table. End it, or make such transactions shorter")
                            .formatted(old.getLong(1), old.getLong(2), old.getLong(3)));
        }
        return found;
    }

    @Override
    public void end(String session) {
        run((c, s) -> Sql.update(c, s.of(Statements.END), session));
    }

    @Override
    public Optional<String> name(String session) {
        return run((c, s) -> Sql.query(
                c,
                s.of(Statements.NAME),
                row -> row.next() ? Optional.of(row.getString(1)) : Optional.<String>empty(),
                session));
    }

    @Override
    public void close() {
        link.close();
    }

    private <T> T run(Work<T> work) {
        try {
            return work.in(link.connection(), link.statements());
        } catch (SQLException e) {
            link.failed(e, false);
            throw failure(e);
        }
    }

    private PermitStoreException failure(SQLException e) {
        return SqlFailures.translate(e, settings.tablePrefix() + "key");
    }
}
