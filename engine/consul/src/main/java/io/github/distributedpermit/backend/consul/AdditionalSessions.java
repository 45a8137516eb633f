package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import io.github.distributedpermit.spi.Member;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Further sessions of a member, for layout lock-file, in which one session can hold only one permit. All keys use the same ones,
 * so that as many are created as the key with the most permits needs; a few at a time, because Consul takes 200 connections
 * from a client. Those that no key has used for a TTL are ended. Confined to the event loop.
 *
 * <p>{@link KeyCommitter} asks for them before it sends a change. They are part of the {@link Session}: if one of them ends, all
 * permits of the member count as lost, because the core does not distinguish which session holds which permit.
 */
final class AdditionalSessions {

    private static final System.Logger LOG = System.getLogger(AdditionalSessions.class.getName());
    /** Requests for the creation of sessions that are under way at a time. */
    private static final int CREATED_AT_A_TIME = 16;
    /** So few, because the renewals wait behind them. */
    private static final int ENDED_AT_A_TIME = 2;

    private static final int ROUNDS_PER_TTL = 3;

    private final Membership membership;
    private final ConsulApi api;
    private final EventLoop loop;
    private final Member member;
    private final KeyUses uses;
    /** In nanoseconds. */
    private final long ttl;

    private final RequestLimiter ends = new RequestLimiter(ENDED_AT_A_TIME);
    /** The sessions that are being created; {@code null} before the first of them. */
    private @Nullable Growth growth;

    /** @param done ends when all requests were answered; fails if one of them has failed */
    private record Growth(Session session, CompletableFuture<Void> done) {}

    AdditionalSessions(
            Membership membership, ConsulApi api, EventLoop loop, Member member, KeyUses uses, Duration ttl) {
        this.membership = membership;
        this.api = api;
        this.loop = loop;
        this.member = member;
        this.uses = uses;
        this.ttl = TimeUnit.NANOSECONDS.convert(ttl);
    }

    /**
     * Ends when the member has so many sessions in all, or so many more as are created at a time; the caller then plans again. All
     * callers share what is being created. If it fails, those that were created stay and are used by the next change.
     */
    CompletableFuture<Void> grow(Session current, int sessions) {
        Growth known = growth;
        if (known != null && known.session() == current && !known.done().isDone()) {
            return known.done();
        }
        int missing = Math.min(sessions - current.all().size(), CREATED_AT_A_TIME);
        Growth next = new Growth(
                current,
                CompletableFuture.allOf(
                        Stream.generate(() -> create(current)).limit(missing).toArray(CompletableFuture[]::new)));
        growth = next;
        return next.done();
    }

    /**
     * Creates one session and makes it usable. It is usable only when its key is in the inbox, by which its end is
     * noticed.
     */
    private CompletableFuture<Void> create(Session current) {
        if (current.isOver()) {
            return CompletableFuture.failedFuture(Session.lost());
        }
        SessionLiveness liveness = current.liveness();
        Object ticket = new Object();
        // Noted as the request is sent: if its answer is lost, a session may exist that the member never renews.
        return api.createAdditionalSession(
                        "distributed-permit " + member.name() + " (permit)", () -> liveness.asked(ticket, loop.now()))
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
    private CompletableFuture<Void> note(Session current, String additional) {
        String key = current.additionalKey(additional);
        List<TxnOperation> ops = List.of(
                TxnOperation.get(current.fenceKey()),
                TxnOperation.lock(key, additional, Format.text(Map.of("member", member.id()))),
                TxnOperation.getTree(key));
        return api.transact(ops).handle((outcome, problem) -> {
            if (outcome instanceof Done done && !current.isOver()) {
                // The index of the key lets the Inbox recognise replies that are older than the key.
                current.addAdditional(additional, done.written().get(1).modified(), loop.now());
                return null;
            }
            // The session is not used, so that its end must not count as a loss of the member.
            current.liveness().gone(additional);
            api.destroySession(additional);
            if (outcome instanceof Refused refused) {
                throw Membership.refused(refused);
            }
            throw problem == null ? Session.lost() : Membership.asStoreException(problem);
        });
    }

    /** Ends what is unused from now on, in rounds until the loop ends. */
    void beginToEndUnused() {
        loop.later(this::endUnused, ttl / ROUNDS_PER_TTL);
    }

    /** A session that is ended although a key uses it would lose that key's permit. */
    private void endUnused() {
        beginToEndUnused(); // first, so that an error in this round is not the end of all
        Session current = membership.current();
        if (current == null) {
            return;
        }
        Set<String> used =
                uses.all().stream().flatMap(use -> use.sessions().stream()).collect(Collectors.toSet());
        current.use(used, loop.now());
        for (String unused : current.unusedFor(ttl, loop.now())) {
            // Removed before the request is sent, so that no change that is planned from now on uses it.
            current.removeAdditional(unused);
            ends.enter(() -> api.destroySession(unused)).whenComplete((done, problem) -> {
                if (problem != null) {
                    LOG.log(System.Logger.Level.DEBUG, "An unused session ends by itself", problem);
                }
            });
        }
    }
}
