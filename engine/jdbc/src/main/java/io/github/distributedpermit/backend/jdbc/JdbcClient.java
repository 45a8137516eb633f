package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.KeyDocument;
import io.github.distributedpermit.spi.snapshot.NewerFormatException;
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
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A member's access to the database over one connection. Each read and each change of a key is one statement, and a batch of
 * changes one transaction. Confined to one thread; two clients of a member share its {@link LiveMembers}.
 *
 * <p>A change is made only if the row has the revision of the snapshot and the session of the member has a row. So a member
 * whose session was ended by others changes nothing any more, whatever it still sends.
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
    private final String readableName;
    private final LiveMembers live;
    private final LongSupplier ticker;
    private long evictions;
    private long swept;

    JdbcClient(JdbcLink link, JdbcSettings settings, String readableName, LiveMembers live, LongSupplier ticker) {
        this.link = link;
        this.settings = settings;
        this.readableName = readableName;
        this.live = live;
        this.ticker = ticker;
        this.swept = ticker.getAsLong();
    }

    /** Where notices for a member arrive: an identifier, whatever the id of the member is. */
    static String channel(String member) {
        UUID id = UUID.nameUUIDFromBytes(member.getBytes(StandardCharsets.UTF_8));
        return "dp_" + id.toString().replace("-", "");
    }

    private String rowName(String name) {
        return settings.prefix() + ':' + name;
    }

    @Override
    public Map<String, JdbcSnapshot> read(Collection<String> names) {
        return run((c, s) -> read(c, s, names));
    }

    private record Row(long revision, KeyDocument document) {}

    private Map<String, JdbcSnapshot> read(Connection c, Statements s, Collection<String> names) throws SQLException {
        Map<String, Row> rows = new HashMap<>();
        long clock = 0;
        try (PreparedStatement p = c.prepareStatement(s.read(names.size()))) {
            bind(p, names.stream().map(this::rowName).toList());
            try (ResultSet found = p.executeQuery()) {
                while (found.next()) {
                    String row = found.getString(1);
                    clock = found.getLong(5);
                    if (row != null) {
                        rows.put(
                                row, new Row(found.getLong(2), document(s, row, found.getString(4), found.getLong(3))));
                    }
                }
            }
        }
        Set<String> members = new HashSet<>();
        rows.values().forEach(row -> row.document().records().forEach(record -> members.add(record.member())));
        lookUp(c, s, live.unknownOf(members));
        Set<String> alive = live.known();
        Map<String, JdbcSnapshot> snapshots = new HashMap<>();
        for (String name : names) {
            Row row = rows.get(rowName(name));
            snapshots.put(
                    name,
                    row == null
                            ? new JdbcSnapshot(0, KeyDocument.unused(clock), alive)
                            : new JdbcSnapshot(row.revision(), row.document(), alive));
        }
        return snapshots;
    }

    private static KeyDocument document(Statements s, String row, String text, long touched) {
        String place = "Row '%s' of table %s".formatted(row, s.keyTable());
        try {
            return JdbcSnapshot.decode(text, touched);
        } catch (NewerFormatException e) {
            throw e.at(place);
        } catch (IllegalArgumentException e) {
            throw PermitStoreException.permanent(
                    "%s is not of distributed-permit: %s; delete the row, or set another distributed-permit.key-prefix"
                            .formatted(place, e.getMessage()),
                    e);
        }
    }

    /** A session without a row has ended. */
    private void lookUp(Connection c, Statements s, Set<String> sessions) throws SQLException {
        if (sessions.isEmpty()) {
            return;
        }
        List<String> alive = new ArrayList<>();
        try (PreparedStatement p = c.prepareStatement(s.alive(sessions.size()))) {
            bind(p, List.copyOf(sessions));
            try (ResultSet found = p.executeQuery()) {
                while (found.next()) {
                    alive.add(found.getString(1));
                }
            }
        }
        live.add(alive);
    }

    /** Fills the rest of the parameters with the last value. */
    private static void bind(PreparedStatement p, List<String> values) throws SQLException {
        int count = Statements.padded(values.size());
        for (int i = 0; i < count; i++) {
            p.setString(i + 1, values.get(Math.min(i, values.size() - 1)));
        }
    }

    @Override
    public List<Commit<JdbcSnapshot>> commit(List<BatchingSnapshotStore.Change<JdbcSnapshot>> changes) {
        List<Commit<JdbcSnapshot>> together = changes.size() == 1 ? List.of() : commitTogether(changes);
        List<Commit<JdbcSnapshot>> outcomes =
                together.isEmpty() ? changes.stream().map(this::commitAlone).toList() : together;
        List<Notice> notices = new ArrayList<>();
        for (int i = 0; i < outcomes.size(); i++) {
            if (outcomes.get(i) instanceof Commit.Done<JdbcSnapshot>) {
                addNotices(
                        notices, changes.get(i).name(), changes.get(i).planned().step());
            }
        }
        send(notices);
        return outcomes;
    }

    private record Notice(String channel, String name) {}

    private static void addNotices(List<Notice> notices, String name, Step step) {
        for (String session : step.served().keySet()) {
            notices.add(new Notice(channel(BatchingSnapshotStore.process(session)), name));
        }
    }

    /**
     * After the commit, so that only grants that stand are notified. Within its transaction all that notify would wait for each
     * other's commits to reach the disk.
     */
    private void send(List<Notice> notices) {
        if (notices.isEmpty()) {
            return;
        }
        try {
            run((c, s) -> s.send == null ? false : send(c, s.send, notices));
        } catch (PermitStoreException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "Members were not notified; they find their grants by their re-checks",
                    e);
        }
    }

    private static boolean send(Connection c, String sql, List<Notice> notices) throws SQLException {
        try (PreparedStatement p = c.prepareStatement(sql)) {
            p.setArray(
                    1,
                    c.createArrayOf(
                            "text", notices.stream().map(Notice::channel).toArray()));
            p.setArray(
                    2,
                    c.createArrayOf("text", notices.stream().map(Notice::name).toArray()));
            return p.execute();
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
    private List<Commit<JdbcSnapshot>> commitTogether(List<BatchingSnapshotStore.Change<JdbcSnapshot>> changes) {
        // In one order in all processes, so that two batches do not wait for each other's rows.
        int[] order = IntStream.range(0, changes.size())
                .boxed()
                .sorted(Comparator.comparing(i -> changes.get(i).name()))
                .mapToInt(Integer::intValue)
                .toArray();
        int[] counts = new int[changes.size()];
        Connection c;
        Statements s;
        try {
            c = link.connection();
            s = link.statements();
        } catch (SQLException e) {
            Commit<JdbcSnapshot> denied = new Commit.Denied<>(failure(e));
            return changes.stream().map(change -> denied).toList();
        }
        try {
            c.setAutoCommit(false);
            execute(c, s, changes, order, counts, true);
            execute(c, s, changes, order, counts, false);
            c.commit();
            c.setAutoCommit(true);
        } catch (SQLException e) {
            if (link.failed(e, true)) {
                return List.of();
            }
            Commit<JdbcSnapshot> unknown = new Commit.OutcomeUnknown<>(failure(e));
            return changes.stream().map(change -> unknown).toList();
        }
        return IntStream.range(0, counts.length)
                .mapToObj(i -> outcome(changes.get(i), counts[i]))
                .toList();
    }

    /** @param inserts whether those are executed that create their row, or the others */
    private void execute(
            Connection c,
            Statements s,
            List<BatchingSnapshotStore.Change<JdbcSnapshot>> changes,
            int[] order,
            int[] counts,
            boolean inserts)
            throws SQLException {
        List<Integer> some = IntStream.of(order)
                .filter(i -> isInsert(changes.get(i)) == inserts)
                .boxed()
                .toList();
        if (some.isEmpty()) {
            return;
        }
        try (PreparedStatement p = c.prepareStatement(inserts ? s.insert : s.update)) {
            for (int i : some) {
                bind(p, s, changes.get(i));
                if (s.dialect().countsBatches()) {
                    p.addBatch();
                } else {
                    counts[i] = p.executeUpdate();
                }
            }
            if (s.dialect().countsBatches()) {
                int[] done = p.executeBatch();
                for (int i = 0; i < done.length; i++) {
                    counts[some.get(i)] = done[i];
                }
            }
        }
    }

    private Commit<JdbcSnapshot> commitAlone(BatchingSnapshotStore.Change<JdbcSnapshot> change) {
        try {
            Connection c = link.connection();
            Statements s = link.statements();
            try (PreparedStatement p = c.prepareStatement(isInsert(change) ? s.insert : s.update)) {
                bind(p, s, change);
                return outcome(change, p.executeUpdate());
            }
        } catch (SQLException e) {
            boolean wroteNothing = link.failed(e, false);
            if (!wroteNothing) {
                return new Commit.OutcomeUnknown<>(failure(e));
            }
            return SqlFailures.isConflict(e) ? new Commit.Conflict<>() : new Commit.Denied<>(failure(e));
        }
    }

    private static boolean isInsert(BatchingSnapshotStore.Change<JdbcSnapshot> change) {
        return change.planned().before().revision() == 0;
    }

    private void bind(PreparedStatement p, Statements s, BatchingSnapshotStore.Change<JdbcSnapshot> change)
            throws SQLException {
        bind(
                p,
                s,
                rowName(change.name()),
                change.planned().before(),
                after(change),
                change.planned().member());
    }

    private static void bind(
            PreparedStatement p, Statements s, String row, JdbcSnapshot before, JdbcSnapshot after, String session)
            throws SQLException {
        if (before.revision() == 0) {
            p.setString(1, row);
            p.setLong(2, after.revision());
            p.setLong(3, after.version());
            p.setString(4, after.encode());
            p.setString(5, session);
            if (s.dialect() == Dialect.H2) {
                p.setString(6, row);
            }
        } else {
            p.setLong(1, after.revision());
            p.setLong(2, after.version());
            p.setString(3, after.encode());
            p.setString(4, row);
            p.setLong(5, before.revision());
            p.setString(6, session);
        }
    }

    private static JdbcSnapshot after(BatchingSnapshotStore.Change<JdbcSnapshot> change) {
        return change.planned().before().with(change.planned().after());
    }

    /**
     * A change that was not made is a conflict, also if the session has ended: then the next renewal shows it, and the layer
     * repeats the change until then.
     */
    private static Commit<JdbcSnapshot> outcome(BatchingSnapshotStore.Change<JdbcSnapshot> change, int count) {
        return count == 0 ? new Commit.Conflict<>() : new Commit.Done<>(after(change));
    }

    /** The row keeps the record, without permits, so that the member receives the loss as its new state. */
    @Override
    public int evict(String name, String process) throws SQLException {
        for (int attempt = 0; attempt < EVICTION_ATTEMPTS; attempt++) {
            JdbcSnapshot before = run((c, s) -> read(c, s, List.of(name))).get(name);
            PermitRecord record = before == null ? null : heldBy(process, before);
            if (before == null || record == null) {
                return 0;
            }
            KeyTable table = before.table();
            Step step = table.evict(record.member(), before.version());
            if (evict(rowName(name), record.member(), before, before.with(table))) {
                List<Notice> notices = new ArrayList<>();
                addNotices(notices, name, step);
                send(notices);
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
            boolean done;
            try (PreparedStatement p = c.prepareStatement(s.update)) {
                bind(p, s, row, before, after, session);
                done = p.executeUpdate() > 0;
            }
            if (done) {
                update(c, s.markEvicted, session);
            }
            c.commit();
            c.setAutoCommit(true);
            return done;
        } catch (SQLException e) {
            link.failed(e, true);
            throw failure(e);
        }
    }

    @Override
    public void begin(String session, Duration length) {
        run((c, s) -> {
            try (PreparedStatement p = c.prepareStatement(s.begin)) {
                p.setString(1, session);
                p.setString(2, settings.prefix());
                p.setString(3, readableName);
                p.setLong(4, TimeUnit.MICROSECONDS.convert(length));
                return p.executeUpdate();
            }
        });
        evictions = 0;
        live.add(Set.of(session));
    }

    @Override
    public BatchingSnapshotStore.Renewal renew(String session, Duration length) {
        int renewed = run((c, s) -> {
            try (PreparedStatement p = c.prepareStatement(s.renew)) {
                p.setLong(1, TimeUnit.MICROSECONDS.convert(length));
                p.setString(2, session);
                return p.executeUpdate();
            }
        });
        return new BatchingSnapshotStore.Renewal(renewed > 0, renewed > 0 && lookAtMembers(session));
    }

    /**
     * Ends the sessions of others that have expired, and reads which are left.
     *
     * @return whether permits were taken from this member since the last look. Not if this fails, since the renewal counts
     */
    private boolean lookAtMembers(String session) {
        try {
            run((c, s) -> update(c, s.reap, settings.prefix()));
            Set<String> before = live.known();
            Map<String, Long> found = run(this::members);
            live.replace(before, found.keySet());
            sweep();
            long now = found.getOrDefault(session, evictions);
            boolean evicted = now != evictions;
            evictions = now;
            return evicted;
        } catch (PermitStoreException e) {
            LOG.log(System.Logger.Level.DEBUG, "Expired members could not be looked for; the next renewal does", e);
            return false;
        }
    }

    private Map<String, Long> members(Connection c, Statements s) throws SQLException {
        Map<String, Long> found = new HashMap<>();
        try (PreparedStatement p = c.prepareStatement(s.members)) {
            p.setString(1, settings.prefix());
            try (ResultSet rows = p.executeQuery()) {
                while (rows.next()) {
                    found.put(rows.getString(1), rows.getLong(2));
                }
            }
        }
        return found;
    }

    /** Each instance does it, since there is little to delete for the second one. */
    private void sweep() {
        long now = ticker.getAsLong();
        if (now - swept < Math.min(SWEEP_NANOS, settings.emptied().toNanos())) {
            return;
        }
        swept = now;
        run((c, s) -> {
            try (PreparedStatement p = c.prepareStatement(s.sweep)) {
                long age = TimeUnit.MICROSECONDS.convert(settings.emptied());
                p.setLong(1, age);
                p.setLong(2, age);
                return p.executeUpdate();
            }
        });
    }

    @Override
    public void end(String session) {
        run((c, s) -> update(c, s.end, session));
    }

    @Override
    public Optional<String> name(String session) {
        return run((c, s) -> {
            try (PreparedStatement p = c.prepareStatement(s.name)) {
                p.setString(1, session);
                try (ResultSet row = p.executeQuery()) {
                    return row.next() ? Optional.of(row.getString(1)) : Optional.empty();
                }
            }
        });
    }

    @Override
    public void close() {
        link.close();
    }

    private static int update(Connection c, String sql, String value) throws SQLException {
        try (PreparedStatement p = c.prepareStatement(sql)) {
            p.setString(1, value);
            return p.executeUpdate();
        }
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
