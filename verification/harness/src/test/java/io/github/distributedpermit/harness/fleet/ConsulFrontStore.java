package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.ConsulProbe.Policy;
import io.github.distributedpermit.consulserver.ConsulServer;

/** One Consul agent with access control, behind something that counts requests and may answer itself. */
public final class ConsulFrontStore extends ConsulStore {

    private static final String MASTER = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
    private static final String SESSIONS = "session_prefix \"\" { policy = \"write\" }";
    private static final String KEYS = "key_prefix \"distributed-permit\" { policy = \"write\" }";

    private final ConsulFront front;
    private final Policy policy;

    private ConsulFrontStore(ConsulServer server, ConsulProbe operator, ConsulFront front, Policy policy) {
        super(
                server,
                operator,
                front.address().getPort(),
                "--distributed-permit.consul.token=" + operator.newToken(policy));
        this.front = front;
        this.policy = policy;
    }

    /** Starts it. */
    public static ConsulFrontStore startBehindFront() {
        ConsulServer server = ConsulServer.startWithAccessControl(MASTER);
        ConsulProbe operator = server.probe().with(MASTER);
        return new ConsulFrontStore(
                server, operator, new ConsulFront(server.address()), operator.newPolicy(SESSIONS + " " + KEYS));
    }

    /** What stands before it. */
    public ConsulFront front() {
        return front;
    }

    /** Members lose their right to keys, and to sessions if that is wanted. */
    public void deny(boolean sessions) {
        operator().change(policy, sessions ? "" : SESSIONS);
    }

    /** Members have all the rights they need. */
    public void allow() {
        operator().change(policy, SESSIONS + " " + KEYS);
    }

    @Override
    public void close() {
        front.close();
        super.close();
    }
}
