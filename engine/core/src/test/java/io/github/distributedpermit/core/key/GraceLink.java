package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One member's connection to the server that it takes for the master. */
final class GraceLink implements PermitStore {

    /** How long a server waits for its replicas. */
    private static final long WAIT = 500 * Weather.MILLI;

    final String member;
    private final GraceSimulation world;
    private final SimProcess process;
    private final HoldingListener listener;
    private final List<Sent> inFlight = new ArrayList<>();
    GraceNode node;
    private int connection;
    private boolean closed;
    private boolean connected = true;
    /** Until then nothing passes in either direction; then all of it arrives. */
    private long stalledUntil;
    /** The epoch of the last answer of any key. */
    private long epoch;
    /** Of any member, as the last answer said, in microseconds. */
    private long longestLease;
    /** The vote by which its server is the master. */
    private long vote;

    GraceLink(GraceSimulation world, String member, SimProcess process, HoldingListener listener, GraceNode node) {
        this.world = world;
        this.member = member;
        this.process = process;
        this.listener = listener;
        this.node = node;
    }

    private record Sent(Claim claim, long knownLease, CompletableFuture<Holding> answer, int connection) {}

    @Override
    public CompletionStage<Holding> claim(Claim claim) {
        CompletableFuture<Holding> answer = new CompletableFuture<>();
        if (closed) {
            answer.completeExceptionally(PermitStoreException.permanent("closed", null));
            return answer;
        }
        Claim sent = claim.reclaim().knownEpoch() == 0 ? withEpoch(claim) : claim;
        Sent entry = new Sent(sent, longestLease, answer, connection);
        inFlight.add(entry);
        inFlight.removeIf(s -> s.answer.isDone());
        travel(entry, node);
        if (world.chance(world.doubled)) {
            travel(entry, node);
        }
        return answer;
    }

    /** A key that is new to the member says which epoch the member remembers of other keys. */
    private Claim withEpoch(Claim c) {
        return c.reclaim(new Claim.Reclaim(
                c.reclaim().validlyHeld(),
                epoch,
                c.reclaim().checksEpoch(),
                c.reclaim().knownVersion()));
    }

    void stall(long nanos) {
        stalledUntil = world.time.now() + nanos;
    }

    /** How long a message takes; negative if it never arrives. */
    private long delay() {
        long usual = world.delay();
        return usual < 0 ? usual : Math.max(usual, stalledUntil - world.time.now());
    }

    private void travel(Sent sent, GraceNode to) {
        long there = delay();
        if (there < 0) {
            return;
        }
        world.time.after(there, null, () -> {
            if (to.silent) {
                world.atThaw(to, () -> arrive(sent, to));
            } else {
                arrive(sent, to);
            }
        });
    }

    private void arrive(Sent sent, GraceNode at) {
        @Nullable Holding holding = world.claim(at, member, sent.claim, sent.knownLease);
        long told = at.longestLease();
        boolean confirmed = !world.waits() || at.isCopied();
        long waited = !world.waits() ? 0 : confirmed ? at.lag : WAIT;
        long back = delay();
        if (back < 0) {
            return;
        }
        world.time.after(waited + back, process, () -> {
            boolean retired = sent.connection != connection;
            if (sent.answer.isDone() || at.silent || retired) {
                return;
            }
            if (holding == null) {
                open(at);
                sent.answer.completeExceptionally(PermitStoreException.passing("moved", null));
                return;
            }
            if (!confirmed) {
                sent.answer.completeExceptionally(PermitStoreException.passing("no replica has it", null));
                return;
            }
            if (holding.epoch() != 0) {
                epoch = holding.epoch();
                longestLease = told;
            }
            sent.answer.complete(holding);
        });
    }

    /** Whether a notification counts, although no replica may have the grant. */
    private boolean countsNotifications() {
        return !world.waits();
    }

    void push(GraceNode from, String key, Holding holding) {
        long delay = delay();
        if (delay >= 0 && from == node) {
            world.time.after(delay, process, () -> {
                if (!closed && from == node && !from.silent) {
                    if (countsNotifications()) {
                        listener.granted(key, holding);
                    } else {
                        listener.changed(key);
                    }
                }
            });
        }
    }

    /** The connection is lost, and another one made, perhaps to another server, to which the client may repeat claims. */
    void reconnect(GraceNode next, boolean repeats) {
        reconnect(next, repeats, vote);
    }

    /** Likewise, because of a vote of the Sentinels. */
    void reconnect(GraceNode next, boolean repeats, long by) {
        if (process.isDead() || by < vote) { // a later vote counts
            return;
        }
        vote = by;
        if (connected && node != next && next == world.master()) { // Sentinels do not lead back to a former master
            close(node, epoch);
        }
        connected = true;
        List<Sent> lost = List.copyOf(inFlight);
        inFlight.clear();
        connection++;
        node = next;
        for (Sent sent : lost) {
            if (sent.answer.isDone()) {
                continue;
            }
            if (repeats) {
                Sent again = new Sent(sent.claim, sent.knownLease, sent.answer, connection);
                inFlight.add(again);
                travel(again, next);
            } else {
                sent.answer.completeExceptionally(PermitStoreException.passing("connection lost", null));
            }
        }
        listener.reachable();
    }

    /** The member knows of another master, and closes the former one over the connection that it still has. */
    private void close(GraceNode former, long known) {
        long by = vote;
        if (known != 0) {
            tell(former, () -> former.close(known, by));
        }
    }

    /** The server was closed, and the member knows a vote that has made it the master. */
    private void open(GraceNode again) {
        long by = vote;
        tell(again, () -> again.open(by));
    }

    private void tell(GraceNode server, Runnable what) {
        long there = delay();
        if (there >= 0) {
            world.time.after(there, null, () -> {
                if (server.silent) {
                    world.atThaw(server, what);
                } else {
                    what.run();
                }
            });
        }
    }

    /** The connection is lost, and no other can be made yet. */
    void disconnect() {
        connected = false;
        List<Sent> lost = List.copyOf(inFlight);
        inFlight.clear();
        connection++;
        for (Sent sent : lost) {
            sent.answer.completeExceptionally(PermitStoreException.passing("connection lost", null));
        }
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return CompletableFuture.completedFuture(new KeyState(key, node.used(key), OverrideLimit.empty(), List.of()));
    }

    @Override
    @SuppressWarnings("NullAway") // a Void is null
    public CompletionStage<Void> override(String key, OverrideLimit limit) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Void> lift(String key, OverrideLimit ended) {
        return override(key, OverrideLimit.empty());
    }

    @Override
    public void close() {
        closed = true;
    }
}
