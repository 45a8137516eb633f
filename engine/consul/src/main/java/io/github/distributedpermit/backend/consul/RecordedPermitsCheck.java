package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks every third of the session's TTL that Consul still has the permits this member holds: an operator may have deleted
 * a key, or a part of it, without touching the session or the inbox. Up to {@value #OPERATIONS} permits of any keys are
 * checked by one read-only transaction; only a key that failed it is read in full. Nothing is written, and nothing is
 * read while nothing is held. Confined to the event loop.
 *
 * <p>{@link ConsulSnapshotStore} creates it. It reports nothing itself: it has {@link KeyUse} request a consistent
 * read, whose result shows what is missing.
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
        Batch batch = new Batch(session);
        for (KeyUse use : uses.all()) {
            KeyTree tree = use.latest();
            if (use.recorded().count() == 0) {
                continue;
            }
            if (tree == null) {
                use.check(); // what it has is not known exactly; a claim under way would make this check fail
                continue;
            }
            // A batch takes operations of several keys, since each one names the key it checks.
            for (TxnOperation proof : tree.proof(session.id())) {
                if (batch.isFull()) {
                    batch.send();
                    batch = new Batch(session);
                }
                batch.add(use, proof);
            }
        }
        batch.send();
    }

    /** The operations of one transaction, and the key that each one checks. */
    private final class Batch {

        private final Session session;
        private final List<TxnOperation> ops = new ArrayList<>();
        /** At the same index as the operation. */
        private final List<KeyUse> owners = new ArrayList<>();

        Batch(Session session) {
            this.session = session;
        }

        /** @param use the key that is read in full if the operation is refused */
        void add(KeyUse use, TxnOperation proof) {
            ops.add(proof);
            owners.add(use);
        }

        boolean isFull() {
            return ops.size() >= OPERATIONS;
        }

        /** The last operation gives the transaction the form that {@link ConsulApi} expects, and fails nothing. */
        void send() {
            if (!ops.isEmpty()) {
                ops.add(TxnOperation.getTree(session.fenceKey()));
                gate.enter(() -> api.readConsistently(ops)).whenComplete(this::answered);
            }
        }

        /**
         * A refusal names the operations that failed, and thereby the keys to read. A key whose permits were returned
         * meanwhile fails as well; its consistent read then shows that nothing is missing.
         */
        private void answered(@Nullable TxnOutcome outcome, @Nullable Throwable failure) {
            if (session.isOver()) {
                return;
            }
            if (outcome instanceof Refused refused && !refused.isDenied()) {
                Set<KeyUse> failed = new LinkedHashSet<>();
                refused.operations().stream()
                        .filter(operation -> operation < owners.size())
                        .forEach(operation -> failed.add(owners.get(operation)));
                failed.forEach(KeyUse::check);
            } else if (failure != null || outcome instanceof Refused) {
                LOG.log(
                        System.Logger.Level.DEBUG,
                        () -> "The held permits could not be checked in Consul and will be in " + pause + " ns: "
                                + (failure == null ? outcome : failure));
            }
        }
    }
}
