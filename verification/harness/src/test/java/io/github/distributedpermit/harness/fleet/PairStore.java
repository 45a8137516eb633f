package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.KillArgs;
import java.util.List;

/** A Redis master and its replica, and one address for members, which leads to the master. */
public final class PairStore implements Store {

    private RedisServer master;
    private RedisServer replica;
    private final Proxy entrance;

    private PairStore(RedisServer master, RedisServer replica) {
        this.master = master;
        this.replica = replica;
        this.entrance = Proxy.to(master.port());
    }

    /** Starts them. */
    public static PairStore start() {
        RedisServer master = RedisServer.started("--repl-diskless-sync-delay", "0");
        RedisServer replica = RedisServer.started(
                "--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1", Integer.toString(master.port()));
        return new PairStore(master, replica);
    }

    /** Whether the replica has what the master has, and will have. */
    public boolean isWhole() {
        return replication(master).contains("role:master")
                && replication(replica).contains("master_link_status:up")
                && replication(master).contains("state=online");
    }

    private static String replication(RedisServer server) {
        return InlineCommand.ask(server.port(), "INFO replication");
    }

    /** The two change their roles, by which nothing is lost; the address leads to the new master. */
    public boolean handOver() {
        String answer = InlineCommand.ask(master.port(), "FAILOVER TO 127.0.0.1 " + replica.port());
        RedisServer old = master;
        master = replica;
        replica = old;
        entrance.leadTo(master.port());
        return answer.startsWith("+OK");
    }

    /** Ends the connections by which members still claim at what is the replica now; their subscriptions stay. */
    public void endClaims() {
        replica.ask(
                commands -> commands.clientKill(KillArgs.Builder.typeNormal().skipme()));
    }

    @Override
    public List<String> settings() {
        return List.of(
                "--distributed-permit.backend=redis",
                "--spring.cloud.consul.enabled=false",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + entrance.port());
    }

    @Override
    public String version() {
        return master.ask(RedisStore::version) + " with a replica";
    }

    @Override
    public List<String> residue() {
        return master.ask(RedisStore::residue);
    }

    @Override
    public void close() {
        entrance.close();
        replica.close();
        master.close();
    }
}
