package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.harness.history.EventLog;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/** What a member can be told. Confined to one thread. */
final class Commands {

    private final int member;
    private final EventLog log;
    private final NamedPermits permits;
    private final ObjectProvider<CuratorFramework> client;
    private @Nullable Load load;

    Commands(int member, EventLog log, NamedPermits permits, ObjectProvider<CuratorFramework> client) {
        this.client = client;
        this.member = member;
        this.log = log;
        this.permits = permits;
    }

    String run(String line) {
        String[] words = line.split(" ");
        try {
            return switch (words[0]) {
                case "load" -> load(Orders.parse(words, 1));
                case "halt" -> halt();
                case "drain" -> Drain.of(permits, Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                case "kill-session" -> OwnClient.killSession(client.getObject());
                case "vitals" -> Vitals.now();
                default -> throw new IllegalArgumentException("What is '" + line + "'?");
            };
        } catch (Exception e) {
            return "failed: " + e;
        }
    }

    private String load(Orders orders) {
        Load started = new Load(member, log, permits, orders);
        load = started;
        started.start();
        return "loading";
    }

    private String halt() throws InterruptedException {
        Load running = load;
        load = null;
        return running == null ? "idle" : running.halt();
    }
}
