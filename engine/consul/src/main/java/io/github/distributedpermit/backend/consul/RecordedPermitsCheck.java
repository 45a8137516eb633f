package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Checks every third of the session's TTL that Consul still has the permits this member holds: an operator may have deleted
 * a key, or a part of it, without touching the session or the inbox. Up to {@value #OPERATIONS} permits of any keys are
 * checked by one read-only transaction; only a key that failed it is read in full. Nothing is written, and nothing is
 * read while nothing is held. Confined to the loop.
 */
final class RecordedPermitsCheck {

    private static final System.Logger LOG = System.getLogger(RecordedPermitsCheck.class.getName());
    private static final int PER_TTL = 3;
    private static final int AT_A_TIME = 4;
    /** Consul takes 64 operations; one reads the member's fence. */
    private static final int OPERATIONS = 60;

    private final Membership membership;
    private final ConsulApi api;
    private final Loop loop;
    private final Supplier<Collection<Lane>> lanes;
    private final Gate gate = new Gate(AT_A_TIME);
    private final long pause;

    RecordedPermitsCheck(
            Membership membership, ConsulApi api, Loop loop, Duration ttl, Supplier<Collection<Lane>> lanes) {
        this.membership = membership;
        this.api = api;
        this.loop = loop;
        this.lanes = lanes;
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
        for (Lane lane : List.copyOf(lanes.get())) {
            Board board = lane.board();
            if (lane.recorded().count() == 0) {
                continue;
            }
            if (board == null || !lane.isAtRest()) {
                lane.check(); // what it has is not known exactly; a claim under way would make this check fail
                continue;
            }
            for (Op proof : board.proof(session.id())) {
                if (batch.isFull()) {
                    batch.send();
                    batch = new Batch(session);
                }
                batch.add(lane, proof);
            }
        }
        batch.send();
    }

    private final class Batch {

        private final Session session;
        private final List<Op> ops = new ArrayList<>();
        private final List<Lane> owners = new ArrayList<>();

        Batch(Session session) {
            this.session = session;
        }

        void add(Lane lane, Op proof) {
            ops.add(proof);
            owners.add(lane);
        }

        boolean isFull() {
            return ops.size() >= OPERATIONS;
        }

        void send() {
            if (!ops.isEmpty()) {
                ops.add(Op.getTree(session.fenceKey()));
                gate.enter(() -> api.readConsistently(ops)).whenComplete(this::answered);
            }
        }

        private void answered(@Nullable TxnOutcome outcome, @Nullable Throwable failure) {
            if (session.isOver()) {
                return;
            }
            if (outcome instanceof Refused refused && !refused.isDenied()) {
                Set<Lane> failed = new LinkedHashSet<>();
                refused.operations().stream()
                        .filter(operation -> operation < owners.size())
                        .forEach(operation -> failed.add(owners.get(operation)));
                failed.forEach(Lane::check);
            } else if (failure != null || outcome instanceof Refused) {
                LOG.log(
                        System.Logger.Level.DEBUG,
                        () -> "The held permits could not be checked in Consul and will be in " + pause + " ns: "
                                + (failure == null ? outcome : failure));
            }
        }
    }
}
