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
 */
final class RecordedPermitsCheck {

    private static final System.Logger LOG = System.getLogger(RecordedPermitsCheck.class.getName());
    private static final int PER_TTL = 3;
    private static final int AT_A_TIME = 4;
    /** Consul takes 64 operations; one reads the member's fence. */
    private static final int OPERATIONS = 60;

    private final Membership membership;
    private final ConsulApi api;
    private final EventLoop loop;
    private final KeyUses uses;
    private final RequestLimiter gate = new RequestLimiter(AT_A_TIME);
    private final long pause;

    RecordedPermitsCheck(Membership membership, ConsulApi api, EventLoop loop, Duration ttl, KeyUses uses) {
        this.membership = membership;
        this.api = api;
        this.loop = loop;
        this.uses = uses;
        this.pause = TimeUnit.NANOSECONDS.convert(ttl) / PER_TTL;
    }

    /** Until the loop ends. */
    void begin() {
        loop.later(this::run, pause);
    }

    private void run() {
        loop.later(this::run, pause);
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
        private final List<KeyUse> owners = new ArrayList<>();

        Batch(Session session) {
            this.session = session;
        }

        void add(KeyUse use, TxnOperation proof) {
            ops.add(proof);
            owners.add(use);
        }

        boolean isFull() {
            return ops.size() >= OPERATIONS;
        }

        void send() {
            if (!ops.isEmpty()) {
                ops.add(TxnOperation.getTree(session.fenceKey()));
                gate.enter(() -> api.readConsistently(ops)).whenComplete(this::answered);
            }
        }

        /** A refusal names the operations that failed, and thereby the keys to read. */
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
