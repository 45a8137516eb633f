package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.harness.history.EventLog;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;

/** What a member can be told. Confined to one thread. */
final class Commands {

    private final int member;
    private final EventLog log;
    private final PermitEngine engine;
    private final NamedPermits permits;
    private final ObjectProvider<CuratorFramework> client;
    private @Nullable Load load;

    Commands(int member, EventLog log, PermitEngine engine, ObjectProvider<CuratorFramework> client) {
        this.engine = engine;
        this.permits = engine.named(MemberMain.NAME);
        this.client = client;
        this.member = member;
        this.log = log;
    }

    String run(String line) {
        String[] words = line.split(" ");
        try {
            return switch (words[0]) {
                case "load" -> load(Orders.parse(words, 1));
                case "halt" -> halt();
                case "drain" -> Drain.of(permits, Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                case "override" -> override(words[1], Integer.parseInt(words[2]));
                case "burst" -> burst(Integer.parseInt(words[1]));
                case "overflow" -> new DeepCalls(permits, Integer.parseInt(words[1])).make(Integer.parseInt(words[2]));
                case "kill-session" -> OwnClient.killSession(client.getObject());
                case "vitals" -> Vitals.now();
                case "clock" -> "clock " + System.currentTimeMillis() + " " + System.nanoTime();
                default -> throw new IllegalArgumentException("What is '" + line + "'?");
            };
        } catch (Exception e) {
            return "failed: " + e;
        }
    }

    /** Takes permits of so many other keys at once, and returns them. */
    private String burst(int keys) throws Exception {
        List<CompletableFuture<Permit>> permitsOfAll = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            permitsOfAll.add(permits.acquireAsync(PermitRequest.of(MemberMain.NAME + "-burst-" + key)));
        }
        for (CompletableFuture<Permit> permit : permitsOfAll) {
            permit.get(10, TimeUnit.SECONDS).release();
        }
        return "burst";
    }

    /** Sets the operator's limit of a key, or lifts it if it is negative. */
    private String override(String key, int limit) throws Exception {
        OverrideLimit value = limit < 0 ? OverrideLimit.empty() : OverrideLimit.of(limit);
        engine.override(MemberMain.NAME + "-" + key, value)
                .toCompletableFuture()
                .get(10, TimeUnit.SECONDS);
        return "overridden";
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
