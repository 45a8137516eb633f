package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.snapshot.Snapshot;
import io.github.distributedpermit.spi.step.Grace;
import io.github.distributedpermit.spi.step.KeyTable;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A store with sessions that may lose the last of what it has confirmed, by the rules of the store in a database: the first member
 * that notices begins the next epoch, with a grace of the longest lease. Times in nanoseconds. Confined to one thread.
 */
final class SessionGraceServer {

    private static final long COMMAND_TIMEOUT = 2 * SessionGraceSimulation.SECOND;
    static final long SESSION = SessionGraceSimulation.SESSION.toNanos();

    /** The row of a key. */
    private record Row(
            long revision, long version, List<PermitRecord> records, OverrideLimit override, long epoch, int pool) {}

    /** The row of a session. */
    private record Session(long epoch, long renewals, long expires) {}

    /** All of it at one moment; {@code epoch} is 0 if it was lost, and {@code graceEnds} 0 if there is no grace. */
    private record State(Map<String, Row> keys, Map<String, Session> sessions, long epoch, long graceEnds) {}

    /** As a member reads a key. */
    record Seen(long revision, Row row, Set<String> live, long epoch, OptionalLong graceEnd) implements Snapshot {

        @Override
        public long version() {
            return row.version;
        }

        @Override
        public KeyTable table() {
            KeyTable table = KeyTable.ofSessions(
                    row.records, row.override, row.version, Grace.ofSessions(epoch, graceEnd, row.pool));
            table.retain(live);
            return table;
        }

        @Override
        public Optional<PermitRecord> record(String member) {
            return row.records.stream().filter(r -> r.member().equals(member)).findFirst();
        }

        @Override
        public String process(String member) {
            return SessionGraceServer.process(member);
        }

        private Seen with(KeyTable after) {
            Row changed = new Row(
                    revision + 1, after.version(), List.copyOf(after.records()), after.override(), epoch, after.pool());
            return new Seen(changed.revision, changed, live, epoch, graceEnd);
        }
    }

    private final Timeline time;
    private final List<Long> times = new ArrayList<>();
    private final List<State> states = new ArrayList<>();
    private final Map<String, SessionGraceStore> stores = new HashMap<>();
    private State state = new State(Map.of(), Map.of(), 0, 0);
    private long downUntil;
    /** How many graces have begun. */
    long graces;

    SessionGraceServer(Timeline time) {
        this.time = time;
    }

    static String process(String session) {
        return session.substring(0, session.lastIndexOf('~'));
    }

    void connect(String id, SessionGraceStore store) {
        stores.put(id, store);
    }

    void notice(String id, String key) {
        SessionGraceStore store = stores.get(id);
        if (store != null) {
            store.noticed(key);
        }
    }

    void down(long duration) {
        downUntil = Math.max(downUntil, time.now() + duration);
    }

    boolean isDown() {
        return downUntil > time.now();
    }

    private void become(State next) {
        times.add(time.now());
        states.add(next);
        state = next;
    }

    /** Continues with what it had so long ago, and without an epoch. */
    void lose(long duration) {
        State then = new State(Map.of(), Map.of(), 0, 0);
        for (int i = 0; i < states.size() && times.get(i) <= time.now() - duration; i++) {
            then = states.get(i);
        }
        become(new State(then.keys, then.sessions, 0, 0));
    }

    /** {@code null} if state was lost and no member has found out. */
    @Nullable
    Seen read(String key) {
        if (state.epoch == 0) {
            return null;
        }
        Row row = state.keys.getOrDefault(
                key, new Row(0, time.now() / 1_000, List.of(), OverrideLimit.empty(), state.epoch, 0));
        if (row.epoch != state.epoch) {
            row = new Row(
                    row.revision, Math.max(row.version, time.now() / 1_000), List.of(), row.override, state.epoch, 0);
        }
        long left = state.graceEnds - time.now();
        OptionalLong end = left > 0 ? OptionalLong.of(row.version + left / 1_000) : OptionalLong.empty();
        return new Seen(row.revision, row, Set.copyOf(state.sessions.keySet()), state.epoch, end);
    }

    /** {@code null} if it was not made. */
    @Nullable
    Seen commit(String key, String session, Seen before, KeyTable after) {
        Session row = state.sessions.get(session);
        Row stored = state.keys.get(key);
        boolean current = (stored == null ? 0 : stored.revision) == before.revision;
        if (row == null || row.epoch != state.epoch || before.epoch != state.epoch || !current) {
            return null;
        }
        Seen made = before.with(after);
        Map<String, Row> keys = new HashMap<>(state.keys);
        keys.put(key, made.row);
        become(new State(keys, state.sessions, state.epoch, state.graceEnds));
        return made;
    }

    long begin(String session) {
        enter(0, 0, true);
        put(session, 0);
        return state.epoch;
    }

    /**
     * Renews a session.
     *
     * @param epoch that the member is in
     * @param valid for how long it may still use its permits
     * @return the epoch in which it goes on; 0 if it has ended
     */
    long renew(String session, long epoch, long renewals, long confirmed, long valid) {
        reap();
        Session own = state.sessions.get(session);
        boolean alive = state.epoch == epoch && own != null && own.epoch == epoch && own.renewals >= confirmed;
        if (!alive) {
            if (state.epoch == epoch && own == null) {
                return 0;
            }
            enter(epoch, valid, false);
        }
        put(session, renewals);
        return state.epoch;
    }

    private void put(String session, long renewals) {
        Map<String, Session> sessions = new HashMap<>(state.sessions);
        sessions.put(session, new Session(state.epoch, renewals, time.now() + SESSION));
        become(new State(state.keys, sessions, state.epoch, state.graceEnds));
    }

    private void reap() {
        Map<String, Session> sessions = new HashMap<>(state.sessions);
        sessions.values().removeIf(session -> session.expires < time.now());
        become(new State(state.keys, sessions, state.epoch, state.graceEnds));
    }

    private void enter(long epoch, long valid, boolean fresh) {
        boolean covered = fresh || state.epoch == epoch || state.graceEnds - time.now() >= valid;
        if (state.epoch != 0 && covered) {
            return;
        }
        boolean virgin = fresh && state.sessions.isEmpty();
        long next = Math.max(time.now(), Math.max(state.epoch, epoch)) + 1;
        graces += virgin ? 0 : 1;
        become(new State(state.keys, state.sessions, next, virgin ? 0 : time.now() + SESSION + COMMAND_TIMEOUT));
    }

    int used(String key) {
        reap();
        Seen seen = read(key);
        return seen == null ? 0 : seen.table().used();
    }
}
