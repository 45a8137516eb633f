package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A PostgreSQL server and a standby, which receives commits after they are confirmed. Members know the addresses of both, and
 * their driver connects to the one that can be written to. Used by the master's thread.
 */
public final class PostgresPairStore implements Store {

    private PostgresStore primary;
    private PostgresStore standby;

    private PostgresPairStore(PostgresStore primary, PostgresStore standby) {
        this.primary = primary;
        this.standby = standby;
    }

    /** Starts them. */
    public static PostgresPairStore start() throws Exception {
        PostgresStore primary = PostgresStore.start();
        return new PostgresPairStore(primary, primary.standby(0));
    }

    /** From now on the standby receives nothing more. */
    public void cutOff() throws SQLException, InterruptedException {
        standby.execute("ALTER SYSTEM SET primary_conninfo = ''");
        standby.execute("SELECT pg_reload_conf()");
        while (!standby.ask("SELECT pid FROM pg_stat_wal_receiver").isEmpty()) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** Whether the primary has changes of keys that the standby lacks. */
    public boolean standbyLacksChanges() throws SQLException {
        String keys = "SELECT name || revision FROM distributed_permit_key ORDER BY name";
        return !primary.ask(keys).equals(standby.ask(keys));
    }

    /** {@code kill -9} of the primary and of all of its processes. */
    public void kill() throws IOException {
        primary.kill();
    }

    /** Returns when the standby can be written to. */
    public void promote() throws SQLException {
        standby.execute("SELECT pg_promote(true, 30)");
    }

    /** The promoted server gets a standby of its own, in the place of the killed one. */
    public void addStandby() throws Exception {
        PostgresStore killed = primary;
        primary = standby;
        killed.close();
        standby = primary.standby(killed.port());
    }

    @Override
    public List<String> settings() {
        return PostgresStore.settings("jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary"
                .formatted(primary.port(), standby.port()));
    }

    @Override
    public String version() {
        return primary.version() + " with a standby";
    }

    @Override
    public List<String> residue() {
        return primary.residue();
    }

    @Override
    public void close() {
        standby.close();
        primary.close();
    }
}
