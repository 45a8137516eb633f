package io.github.distributedpermit.backend.consul;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * When each session of a member was last confirmed: the time at which its making or renewal was sent, by the monotonic
 * clock. The permits of the member are valid only as long as the session that was confirmed the longest ago. Confined to the event loop.
 *
 * <p>Times are in nanoseconds and are compared by their difference, because the clock may overflow.
 */
final class SessionLiveness {

    /** By session, in the order in which they were tried last. */
    private final Map<String, Long> confirmed = new LinkedHashMap<>();
    /** Sessions that were asked for and may exist, by ticket. */
    private final Map<Object, Long> asked = new HashMap<>();

    SessionLiveness(String session, long sent) {
        confirmed.put(session, sent);
    }

    /**
     * A further session is asked for. It counts from now on: as long as it is unknown whether it exists, it may hold a permit
     * that ends earlier than those of the other sessions.
     *
     * @param ticket identifies the request until its session has an id
     * @param sent when the request is sent; a session that it creates is certain to live from then on
     */
    void asked(Object ticket, long sent) {
        asked.put(ticket, sent);
    }

    /** There is no session for this ticket. */
    void none(Object ticket) {
        asked.remove(ticket);
    }

    /**
     * There is a session for this ticket. The time of the request stays the confirmation, since Consul may have
     * created the session at once.
     */
    void made(Object ticket, String session) {
        Long sent = asked.remove(ticket);
        if (sent != null) {
            confirmed.put(session, sent);
        }
    }

    /** It limits the validity of the permits no more. */
    void gone(String session) {
        confirmed.remove(session);
    }

    /** A renewal sent at this time is confirmed. An answer that arrives out of order does not lower the time. */
    void renewed(String session, long sent) {
        confirmed.computeIfPresent(session, (id, before) -> sent - before > 0 ? sent : before);
    }

    /** When all sessions were alive, those included of which it is not known yet whether they exist. */
    long oldest() {
        return oldest(Stream.concat(confirmed.values().stream(), asked.values().stream()));
    }

    /** When all sessions that can be renewed were alive. */
    long oldestConfirmed() {
        return oldest(confirmed.values().stream());
    }

    private static long oldest(Stream<Long> times) {
        return times.reduce((a, b) -> b - a < 0 ? b : a).orElseThrow();
    }

    /**
     * Sessions not confirmed since this time, those first that were tried longest ago.
     *
     * @param since sessions confirmed later than this are left out
     */
    List<String> due(long since) {
        return confirmed.entrySet().stream()
                .filter(entry -> entry.getValue() - since <= 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * A renewal is sent; where not all can be, the others come first the next time. Moves it to the end of the order.
     */
    void tried(String session) {
        Long sent = confirmed.remove(session);
        if (sent != null) {
            confirmed.put(session, sent);
        }
    }
}
