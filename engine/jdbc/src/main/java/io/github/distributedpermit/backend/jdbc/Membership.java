package io.github.distributedpermit.backend.jdbc;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.BatchingSnapshotStore.Renewal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The session of a member, and how the member finds out that the database has lost state. Confined to the control thread.
 *
 * <p>One row says in which epoch the records are valid. Every change of a key requires this row, and nothing that loses
 * records leaves it as it is: a crash or a promotion empties its table, a restored dump gives the table another id, another
 * server has another name. The first member that notices opens the next epoch, with a grace of the longest lease that is
 * known. A copy of the data files that was put back has the row of then; each member finds its own row in it too old.
 */
final class Membership {

    /** Each attempt fails only because another member has opened an epoch meanwhile. */
    private static final int ATTEMPTS = 20;

    private final JdbcSettings settings;
    private final String readableName;
    private final LiveMembers live;
    /** How often the session was renewed; the database has to have at least as many as it has confirmed. */
    private long renewals;

    private long confirmed;
    private long evictions;
    /** The longest lease of any member that was seen in an epoch without a loss, microseconds. */
    private long longest;

    Membership(JdbcSettings settings, String readableName, LiveMembers live) {
        this.settings = settings;
        this.readableName = readableName;
        this.live = live;
    }

    /**
     * What the database says about the epoch and the session.
     *
     * @param longest the longest lease of the members that have a row
     * @param renewals of the member; -1 if it has no row
     * @param epoch 0 if there is none
     * @param lease for how long the grace of this epoch lasts
     * @param sameServer whether the epoch is that of the data that is here
     */
    private record Standing(
            long now, long longest, long renewals, long epoch, long lease, long graceEnds, boolean sameServer) {}

    private Standing look(Connection c, Statements s, String session) throws SQLException {
        return Sql.query(
                c,
                s.of(Statements.LOOK),
                row -> {
                    row.next();
                    long own = row.getLong(3);
                    boolean present = !row.wasNull();
                    return new Standing(
                            row.getLong(1),
                            row.getLong(2),
                            present ? own : -1,
                            row.getLong(4),
                            row.getLong(5),
                            row.getLong(6),
                            row.getInt(7) == 1);
                },
                session,
                settings.prefix(),
                settings.prefix());
    }

    /** Executes the statements without an effect, so that a missing table or right shows. */
    void check(Connection c, Statements s) throws SQLException {
        look(c, s, "-");
        for (String table : List.of("{member}", "{epoch}")) {
            Sql.update(c, s.of("INSERT INTO %1$s SELECT * FROM %1$s WHERE 1 = 0".formatted(table)));
        }
        Sql.update(c, s.of(Statements.RENEW), 0L, "-", 0L, 0L, "-", 0L);
        Sql.update(c, s.of(Statements.NEXT_EPOCH), 0L, 0L, 0L, "-", 0L);
        Sql.update(c, s.of(Statements.END), "-");
    }

    /** @return the epoch in which it begins */
    long begin(Connection c, Statements s, String session, Duration length) throws SQLException {
        long present = enter(c, s, session, true, 0);
        renewals = 0;
        confirmed = 0;
        evictions = 0;
        insert(c, s, session, present, length);
        return present;
    }

    private void insert(Connection c, Statements s, String session, long present, Duration length) throws SQLException {
        long lease = TimeUnit.MICROSECONDS.convert(length);
        Sql.update(
                c, s.of(Statements.BEGIN), session, settings.prefix(), readableName, present, lease, renewals, lease);
        live.enter(present);
        longest = Math.max(longest, lease);
        live.add(Set.of(session));
    }

    Renewal renew(Connection c, Statements s, String session, Duration length, Duration valid) throws SQLException {
        renewals++;
        long epoch = live.epoch();
        boolean alive =
                Sql.update(c, s.of(Statements.RENEW), renewals, session, epoch, confirmed, settings.prefix(), epoch)
                        > 0;
        if (!alive) {
            Standing at = look(c, s, session);
            if (at.sameServer && at.epoch == epoch && at.renewals < 0) {
                return new Renewal(false, false, epoch);
            }
            long present = enter(c, s, session, false, TimeUnit.MICROSECONDS.convert(valid));
            if (Sql.update(c, s.of(Statements.ADOPT), renewals, present, session) == 0) {
                insert(c, s, session, present, length);
            }
            live.enter(present);
        }
        confirmed = renewals;
        return new Renewal(true, false, live.epoch());
    }

    /**
     * Finds the epoch to enter. Opens the next one if the database has lost state, or if the grace of the present one does
     * not last for as long as a permit of before the loss may be valid, as far as this member knows.
     *
     * @param fresh whether the session is new, so that it has no permits
     * @param valid for how long the member may still use its permits, microseconds
     */
    private long enter(Connection c, Statements s, String session, boolean fresh, long valid) throws SQLException {
        long epoch = live.epoch();
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Standing at = look(c, s, session);
            boolean oldCopy = !fresh && at.epoch == epoch && at.renewals >= 0 && at.renewals < confirmed;
            boolean covered = at.lease >= longest && at.graceEnds - at.now >= valid;
            // By an earlier clock, of a new primary. In such an epoch a member would take the former primary for the
            // present one.
            boolean lower = at.epoch < epoch;
            if (at.sameServer && !oldCopy && !lower && (fresh || at.epoch == epoch || covered)) {
                return at.epoch;
            }
            open(c, s, at);
        }
        throw PermitStoreException.passing("Other instances found a loss of state at each attempt to find one", null);
    }

    private void open(Connection c, Statements s, Standing at) throws SQLException {
        long lease = Math.max(longest, at.longest);
        // Renewals that were confirmed while this is committed count as well.
        long slack = TimeUnit.MICROSECONDS.convert(settings.commandTimeout());
        long graceEnds = lease == 0 ? 0 : at.now + lease + slack;
        // By the clock, so that numbers of a history that was lost do not return.
        long next = Math.max(at.now, Math.max(at.epoch, live.epoch()) + 1);
        try {
            if (at.epoch == 0) {
                Sql.update(c, s.of(Statements.FIRST_EPOCH), next, lease, graceEnds, settings.prefix());
            } else {
                Sql.update(c, s.of(Statements.NEXT_EPOCH), next, lease, graceEnds, settings.prefix(), at.epoch);
            }
        } catch (SQLException e) {
            if (!SqlFailures.isConflict(e)) {
                throw e;
            }
        }
    }

    /**
     * Ends the sessions of others that have expired, and reads which are left.
     *
     * @return whether permits were taken from this member since the last look
     */
    boolean lookAtMembers(Connection c, Statements s, String session) throws SQLException {
        Sql.update(c, s.of(Statements.REAP), settings.prefix());
        Set<String> before = live.known();
        Map<String, Long> evicted = new HashMap<>();
        long lease = Sql.query(
                c,
                s.of(Statements.MEMBERS),
                rows -> {
                    long most = 0;
                    while (rows.next()) {
                        evicted.put(rows.getString(1), rows.getLong(2));
                        most = Math.max(most, rows.getLong(3));
                    }
                    return most;
                },
                settings.prefix());
        longest = Math.max(longest, lease);
        live.replace(before, evicted.keySet());
        long taken = evicted.getOrDefault(session, evictions);
        boolean more = taken != evictions;
        evictions = taken;
        return more;
    }
}
