package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks every third of the session's TTL that Consul still has the permits this member holds: an operator may have deleted
 * a key, or a part of it, without touching the session or the inbox. Up to {@value #OPERATIONS} permits of any keys are
 * checked by one read-only transaction; only a key that failed it is read in full. Nothing is written, and nothing is
 * read while nothing is held. Confined to the event loop.
 *
 * <p>It reports nothing itself: it has {@link KeyUse} request a consistent read, whose result shows what is missing.
 */
final class RecordedPermitsCheck {

    private static final System.Logger LOG = System.getLogger(RecordedPermitsCheck.class.getName());
    /** Rounds per TTL of the session. */
    private static final int PER_TTL = 3;
    /** Checks that are under way at a time, so that claims do not wait behind them. */
    private static final int AT_A_TIME = 4;
    /** Consul takes 64 operations; one reads the member's fence. */
    private static final int OPERATIONS = 60;

    private final Membership membership;
    private final ConsulApi api;
    private final EventLoop loop;
    private final KeyUses uses;
    /** Its queue is short, because a batch has up to {@value #OPERATIONS} permits. */
    private final RequestLimiter gate = new RequestLimiter(AT_A_TIME);
    /** Between two rounds, in nanoseconds. */
    private final long pause;

    RecordedPermitsCheck(Membership membership, ConsulApi api, EventLoop loop, Duration ttl, KeyUses uses) {
        this.membership = membership;
        this.api = api;
        this.loop = loop;
        this.uses = uses;
        this.pause = TimeUnit.NANOSECONDS.convert(ttl) / PER_TTL;
    }

    /** Until the loop ends. The first round follows after one pause. */
    void begin() {
        loop.later(this::run, pause);
    }

    /** The next round is scheduled first, so that an error in this one does not end the checks. */
    private void run() {
        loop.later(this::run, pause);
        // Without a session nothing is held, and the loss was reported already.
        Session session = membership.current();
        if (session == null) {
            return;
        }
        List<Check> checks = new ArrayList<>();
        for (KeyUse use : uses.all()) {
            KeyTree tree = use.latest();
            if (use.recorded().count() == 0) {
                continue;
            }
            if (tree == null) {
                use.check(); // what it has is not known exactly; a claim under way would make this check fail
            } else {
                tree.proof(session.id()).forEach(proof -> checks.add(new Check(use, proof)));
            }
        }
        for (int from = 0; from < checks.size(); from += OPERATIONS) {
            send(session, checks.subList(from, Math.min(from + OPERATIONS, checks.size())));
        }
    }

    /** One operation, and the key that is read in full if it is refused. */
    private record Check(KeyUse use, TxnOperation proof) {}

    /** The last operation gives the transaction the form that {@link ConsulApi} expects, and fails nothing. */
    private void send(Session session, List<Check> batch) {
        List<TxnOperation> ops = new ArrayList<>();
        batch.forEach(check -> ops.add(check.proof()));
        ops.add(TxnOperation.getTree(session.fenceKey()));
        gate.enter(() -> api.readConsistently(ops))
                .whenComplete((outcome, failure) -> answered(session, batch, outcome, failure));
    }

    /**
     * A refusal names the operations that failed, and thereby the keys to read. A key whose permits were returned meanwhile fails
     * as well; its consistent read then shows that nothing is missing.
     */
    private void answered(
            Session session, List<Check> batch, @Nullable TxnOutcome outcome, @Nullable Throwable failure) {
        if (session.isOver()) {
            return;
        }
        if (outcome instanceof Refused refused && !refused.isDenied()) {
            refused.operations().stream()
                    .filter(operation -> operation < batch.size())
                    .map(operation -> batch.get(operation).use())
                    .distinct()
                    .forEach(KeyUse::check);
        } else if (failure != null || outcome instanceof Refused) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    () -> "The held permits could not be checked in Consul and will be in " + pause + " ns: "
                            + (failure == null ? outcome : failure));
        }
    }
}
