package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Further sessions of a member, for a layout in which one session can hold only one permit. All keys use the same ones,
 * so that as many are created as the key with the most permits needs; a few at a time, because Consul takes 200 connections
 * from a client. Those that no key has used for a TTL are ended. Confined to the event loop.
 *
 * <p>Only layout lock-file needs them. {@link KeyCommitter} asks for them before it sends a change, and {@link
 * UnusedSessions} has the unused ones ended. They are part of the {@link Session}: if one of them ends, all permits
 * of the member count as lost, because the core does not distinguish which session holds which permit.
 */
final class AdditionalSessions {

    private static final System.Logger LOG = System.getLogger(AdditionalSessions.class.getName());
    /** Requests for the creation of sessions that are under way at a time. */
    private static final int AT_A_TIME = 16;
    /** So few, because the renewals wait behind them. */
    private static final int ENDS_AT_A_TIME = 2;

    private final ConsulApi api;
    private final EventLoop loop;
    private final Member member;
    private final RequestLimiter ends = new RequestLimiter(ENDS_AT_A_TIME);
    /**
     * What is waited for in the present session. Those of an earlier one end with the answers to its requests.
     * Replaced with each new session of the member; {@code null} before the first order.
     */
    private @Nullable Orders orders;

    AdditionalSessions(ConsulApi api, EventLoop loop, Member member) {
        this.api = api;
        this.loop = loop;
        this.member = member;
    }

    /**
     * Ends when the member has so many sessions in all; they live and end with the first.
     *
     * @param sessions how many the member needs in all, with the first
     * @return fails if a session cannot be created; those created before stay and are used by the next order
     */
    CompletableFuture<Void> ensure(Session current, int sessions) {
        Orders known = orders;
        if (known == null || known.session != current) {
            known = new Orders(current);
            orders = known;
        }
        return known.add(sessions);
    }

    /**
     * Ends the sessions that no key has used for a while. A session that is ended although a key uses it would lose
     * that key's permit, so the caller has to know the sessions of every key.
     *
     * @param used the sessions that any key uses now, without exception
     * @param longest how long, in nanoseconds
     */
    void shrink(Session current, Set<String> used, long longest) {
        current.use(used, loop.now());
        for (String spare : current.unusedFor(longest, loop.now())) {
            // Removed before the request is sent, so that no change that is planned from now on uses it.
            current.removeAdditional(spare);
            ends.enter(() -> api.destroySession(spare)).whenComplete((done, problem) -> {
                if (problem != null) {
                    LOG.log(System.Logger.Level.DEBUG, "An unused session ends by itself", problem);
                }
            });
        }
    }

    /** What is waited for in one session of the member. */
    private final class Orders {

        private final Session session;
        /** Orders that need more sessions than there are. */
        private final List<Order> waiting = new ArrayList<>();
        /** Requests for a session that are not answered yet. */
        private int making;

        Orders(Session session) {
            this.session = session;
        }

        /** @return ends when the member has so many sessions */
        CompletableFuture<Void> add(int sessions) {
            Order order = new Order(sessions, new CompletableFuture<>());
            waiting.add(order);
            proceed();
            return order.done;
        }

        /** Ends the orders that are complete, and asks for what the largest of the others still misses. */
        private void proceed() {
            int has = session.all().size();
            List<Order> ready =
                    waiting.stream().filter(order -> order.sessions <= has).toList();
            waiting.removeAll(ready);
            int most = waiting.stream().mapToInt(Order::sessions).max().orElse(0);
            // Sessions that are being created count, so that several orders do not create more than the largest of
            // them needs.
            int missing = Math.min(most - has, AT_A_TIME) - making;
            making += Math.max(0, missing);
            for (int i = 0; i < missing; i++) {
                one(session).whenComplete((done, problem) -> ended(problem));
            }
            // Completed last, because the callers may order more sessions at once.
            ready.forEach(order -> order.done.complete(null));
        }

        /** After a failure no further session is requested before a caller asks again: the core repeats its claims with pauses. */
        private void ended(@Nullable Throwable problem) {
            making--;
            if (problem == null) {
                proceed();
                return;
            }
            // The list is emptied first: a caller whose future fails may place a new order.
            List<Order> failed = List.copyOf(waiting);
            waiting.clear();
            failed.forEach(order -> order.done.completeExceptionally(problem));
        }
    }

    /**
     * One caller that waits for sessions.
     *
     * @param sessions how many the member needs in all, with the first
     */
    private record Order(int sessions, CompletableFuture<Void> done) {}

    /**
     * Creates one session and makes it usable. It is usable only when its key is in the inbox, by which its end is
     * noticed.
     */
    private CompletableFuture<Void> one(Session current) {
        if (current.isOver()) {
            return CompletableFuture.failedFuture(Session.lost());
        }
        // Noted before the request is sent: if its answer is lost, a session may exist that the member never renews.
        SessionLiveness liveness = current.liveness();
        Object ticket = liveness.asked(loop.now());
        return api.createAdditionalSession("distributed-permit " + member.name() + " (permit)")
                .whenComplete((id, problem) -> {
                    // A request that failed may still create a session at Consul. No key uses it, so that it ends
                    // after its TTL without a loss.
                    if (id == null) {
                        liveness.none(ticket);
                    } else {
                        liveness.made(ticket, id);
                    }
                })
                .thenCompose(id -> note(current, id));
    }

    /**
     * Writes a key into the inbox that is locked by the new session. It vanishes with that session, and the blocking query of the
     * {@link Inbox} returns. The transaction reads the fence so that it fails if the first session has ended.
     */
    private CompletableFuture<Void> note(Session current, String spare) {
        String key = current.additionalKey(spare);
        List<TxnOperation> ops = List.of(
                TxnOperation.get(current.fenceKey()),
                TxnOperation.lock(key, spare, Format.text(Map.of("member", member.id()))),
                TxnOperation.getTree(key));
        return api.transact(ops).handle((outcome, problem) -> {
            if (outcome instanceof Done done && !current.isOver()) {
                // The index of the key lets the Inbox recognise replies that are older than the key.
                current.addAdditional(spare, done.written().get(1).modified(), loop.now());
                return null;
            }
            // The session is not used, so that its end must not count as a loss of the member.
            current.liveness().gone(spare);
            api.destroySession(spare);
            if (outcome instanceof Refused refused) {
                throw Membership.refused(refused);
            }
            throw problem == null ? Session.lost() : Membership.asStoreException(problem);
        });
    }
}
