package io.github.distributedpermit.spi.step;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Which server has written the data of a store last, and since when. It is stored beside the keys, so that a server finds here
 * whether it has continued the data of another one, which may have had more. The Java form of what lineage.lua does; only
 * tests use it (docs/decisions/0013-three-forms-of-the-step.md). Not thread-safe.
 */
public final class Lineage {

    /**
     * Earlier epochs whose data this server has taken over. Older ones count as lost, which begins a grace and is
     * safe.
     */
    private static final int MOST_ADOPTED = 16;
    /** No server has this name, so that the next check finds a server that does not continue the data. */
    private static final String FORGOTTEN = "-";
    /** Size of the lower part of an epoch, into which the salt is mixed. */
    private static final long SALTS = 1 << 16;
    /** The salt changes each millisecond of the server's clock. */
    private static final long MICROS_PER_SALT = 1_000;

    private final long newServerGrace;
    /** The newest first. */
    private final Deque<Long> adopted = new ArrayDeque<>();

    private final StatedLeases leases = new StatedLeases();
    /** The epoch under which the data was written last, with its salt; 0 before the first check. */
    private long epoch;

    private long salt;
    /** The start of the server that has written last, as in {@link ServerIdentity#run}. */
    private String run = "";
    /** The node of the server that has written last, as in {@link ServerIdentity#node}. */
    private String node = "";

    private long since;
    private boolean virgin;
    /** The epoch under which the server may not grant; 0 if it may. */
    private long closed;
    /** The highest vote by which the server was closed; only a later one opens it. */
    private long closedBy;

    /**
     * A lineage that is not stored yet.
     *
     * @param newServerGrace how long a server without data that no member remembers waits for its members after its start,
     *     microseconds
     */
    public Lineage(long newServerGrace) {
        this.newServerGrace = newServerGrace;
    }

    /**
     * The epoch under which a server answers: of its own the upper half, the lower half mixed with the salt of this lineage, which
     * is the time when that was created. So claims that were sent before the server was emptied remember another epoch than
     * those sent after it, although the server is the same. The upper half still shows by itself which server has written.
     */
    long epochOf(ServerIdentity server, long now) {
        if (epoch == 0) {
            salt = saltAt(now);
        }
        return salted(server);
    }

    private static long saltAt(long now) {
        return now / MICROS_PER_SALT % SALTS;
    }

    private long salted(ServerIdentity server) {
        long own = server.epoch();
        return Math.max(1, own / SALTS * SALTS + (own + salt) % SALTS);
    }

    /** Whether that server has written under this epoch, as far as that shows without the lineage. */
    static boolean isOf(ServerIdentity server, long written) {
        return written / SALTS == server.epoch() / SALTS;
    }

    /** The epoch that has written last; 0 if nothing is stored. */
    long epoch() {
        return epoch;
    }

    /** When the present epoch was first seen, or the start of the server if no data can have been lost. */
    long since() {
        return since;
    }

    /** Whether no member has shown yet that it remembers data that is not here. */
    boolean isVirgin() {
        return virgin;
    }

    /** The epoch that may not grant any more; 0 if none. */
    long closed() {
        return closed;
    }

    /**
     * Lets the server grant and renew no more, if it answers under this epoch. A request for another epoch has no
     * effect: it was sent before the server lost or replaced its data.
     *
     * @param vote that has made another server the master; a later one is greater
     * @param which the epoch to close
     */
    public void close(long which, ServerIdentity server, long vote) {
        if (epoch == which && salted(server) == which) {
            closedBy = closed == which ? Math.max(closedBy, vote) : vote;
            closed = which;
        }
    }

    /**
     * Whether the server was closed as a former master. Its epoch may change without a loss since then. Then it takes its data over
     * whole, and stays closed under the new epoch.
     */
    boolean isClosed(ServerIdentity server, long now) {
        if (closed != 0 && closed == epoch && salted(server) != epoch) {
            follow(server, 0, now);
        }
        return closed != 0 && closed == salted(server);
    }

    /**
     * Lets a closed server grant again, which a later vote has made the master. Another server may have granted permits meanwhile, so
     * the salt changes, and with it the epoch, and the data are not taken over: the next claim begins a grace.
     *
     * @param vote that has made the closed server the master; it has no effect unless it is later than the one that
     *     closed it
     * @param now the clock of the server, in microseconds
     */
    public void open(long vote, long now) {
        if (closed != 0 && closed == epoch && closedBy < vote) {
            expectLoss(now);
        }
    }

    /** The data counts as that of another server from now on, so that the next check begins a grace. */
    private void expectLoss(long now) {
        salt = (salt + 1 + now / MICROS_PER_SALT % (SALTS - 1)) % SALTS; // never the same
        run = FORGOTTEN;
        node = FORGOTTEN;
    }

    /**
     * Whether the clock of the server was set back to before {@link #since}. Then times that were stored before can't be compared
     * with it: a grace would last too long, and whether a key was checked before or after the loss is unknown.
     */
    boolean isAheadOf(long now) {
        return since > now;
    }

    /**
     * Compares the data with the server that continues it.
     *
     * @param knownEpoch the epoch of the claim; 0 if the member remembers none
     * @param knownLease the longest lease of any member that the claimer has received with an answer; it counts if that was an
     *     answer of another epoch, of which this server may not have all data
     * @return whether a member has shown that data of this epoch was lost which the server took for new
     */
    boolean check(ServerIdentity server, long knownEpoch, long knownLease, long now) {
        if (isAheadOf(now)) {
            expectLoss(now); // the grace is a whole lease from now on, and the true loss was before
        }
        boolean missed = follow(server, knownEpoch, now);
        if (knownEpoch != 0 && knownEpoch != epoch) {
            leases.state(knownLease, now);
        }
        return missed;
    }

    /** A member claims with this lease. */
    void state(long lease, long now) {
        leases.state(lease, now);
    }

    /** How long a grace lasts: no permit of before the loss is valid for longer, as far as is known. */
    public long longestLease() {
        return leases.longest();
    }

    private boolean follow(ServerIdentity server, long knownEpoch, long now) {
        long present = epochOf(server, now);
        if (epoch == 0) {
            // A promoted replica may have missed writes of its master, so that missing data counts as lost.
            virgin = knownEpoch == 0 && !server.promoted();
            enter(server, virgin ? server.startedAt() : now);
        } else if (epoch != present) {
            if (isContinuedBy(server)) {
                adopted.addFirst(epoch);
                if (adopted.size() > MOST_ADOPTED) {
                    adopted.removeLast();
                }
                if (closed == epoch) {
                    closed = salted(server); // still a former master: only its epoch is another one
                }
                // The data is complete, so that no grace begins; keys of the earlier epoch remain valid.
                enter(server, since);
            } else {
                virgin = false;
                adopted.clear();
                enter(server, now);
                leases.restart(now);
            }
        }
        // The member has an answer of an epoch that is not here: the server was not new, but has lost its data.
        if (virgin && knownEpoch != 0 && !covers(knownEpoch)) {
            virgin = false;
            since = now;
            leases.restart(now);
            return true;
        }
        return false;
    }

    private void enter(ServerIdentity server, long from) {
        epoch = salted(server);
        run = server.run();
        node = server.node();
        since = from;
    }

    /** Whether the server has all data of the one that has written last: it is the same one, or got them by migration. */
    private boolean isContinuedBy(ServerIdentity server) {
        boolean same = run.equals(server.run()) && !server.promoted();
        // A slot of a cluster is migrated whole, from a node that still serves keys.
        boolean migrated = !node.equals(server.node()) && server.serving().contains(node);
        return same || migrated;
    }

    /** Whether data of that epoch is complete here. */
    boolean covers(long written) {
        return written == epoch || adopted.contains(written);
    }

    /** Until when a key without data is in grace. */
    long graceEnd() {
        return since + (virgin ? newServerGrace : longestLease());
    }
}
