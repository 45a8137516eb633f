package io.github.distributedpermit.backend.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Derives from the transactions that a quorum has committed since when the session is certainly alive.
 *
 * <p>A session ends when its leader has received no report of it for that time. The leader is not in contact with a
 * client directly: the server the client is connected to reports its active clients, every half tick, over the same
 * stream on which it forwards transactions. A server that is cut off from its leader goes on answering reads and pings for
 * a while, so they prove nothing. But when a transaction is committed, every report before it has reached the leader, and
 * thereby every contact that is older than the time between two reports. A tick is at most half a session (servers refuse
 * shorter sessions by default), so a quarter of a session is old enough. If nothing is known of earlier contacts, it is the
 * client's library that has kept the connection busy, three times in a session.
 *
 * <p>A leader that is elected later counts each session from its own election, which is after the commit: it needs the
 * votes of a quorum, and no quorum commits for the leader before it any more. So the result holds for it as well.
 *
 * <p>Not thread-safe: {@link MemberSession} guards it by its monitor, and replaces it with each session. All times
 * are nanoseconds of the monotonic clock. The result is a lower bound: an error in this direction makes permits end
 * too early, and never too late.
 */
final class LeaderContact {

    /** The longest time between two reports to the leader, as a part of the session. */
    static final int REPORTED_PER_SESSION = 4;
    /** How often the client's library sends a ping if nothing else is sent. */
    private static final int PINGS_PER_SESSION = 3;
    /**
     * The least time between two contacts that are kept, as a part of the session, so that a busy member keeps some
     * twenty.
     */
    private static final int SPACING = 20;

    /** The oldest first; none is older than a session. */
    private final Deque<Contact> committed = new ArrayDeque<>();
    /** The length that the ensemble has granted. */
    private final long session;

    LeaderContact(long session) {
        this.session = session;
    }

    /**
     * A quorum has committed a transaction.
     *
     * @return as of when the session is certain to last for its full length
     * @param sentAt when the transaction was sent
     * @param now when its answer arrived
     */
    long committed(long sentAt, long now) {
        long reported = sentAt - session / REPORTED_PER_SESSION;
        long alive = reported - session / PINGS_PER_SESSION;
        for (Contact contact : committed) {
            if (contact.answeredAt() <= reported) {
                // This contact was answered before the last report, so that the report included it.
                alive = Math.max(alive, contact.sentAt());
            }
        }
        Contact last = committed.peekLast();
        if (last == null || sentAt - last.sentAt() >= session / SPACING) {
            committed.add(new Contact(sentAt, now));
            committed.removeIf(c -> now - c.sentAt() > session);
        }
        return alive;
    }

    /** A committed transaction: when it was sent, and when its answer arrived. */
    record Contact(long sentAt, long answeredAt) {}
}
