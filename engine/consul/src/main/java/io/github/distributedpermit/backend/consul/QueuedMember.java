package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The entry of a member in the queue; the fields are those of a {@link PermitRecord}. It is locked by the member's session, so that
 * a crashed member leaves the queue when its session ends. Immutable.
 *
 * @param json all of it, also what this version does not know
 * @param since its position in the queue, an index of Consul; 0 is before all others
 * @param index of the last change of the entry, which the next change compares
 */
record QueuedMember(
        String session,
        String member,
        int wanted,
        int weightOfHead,
        int least,
        int limit,
        long since,
        Claim.Shown shown,
        long index,
        JsonObject json) {

    /** Since format 2; its absence stands for 0. */
    private static final String BEYOND = "beyond";

    /**
     * Throws {@link MalformedJsonException} if the entry is not locked by the session in its name: it would then stay
     * in the queue after the end of its member.
     */
    static QueuedMember of(String session, KeyValue entry) {
        if (!session.equals(entry.session())) {
            throw new MalformedJsonException("a member in the queue is bound to its session");
        }
        JsonObject json = Format.read(entry);
        return new QueuedMember(
                session,
                json.text("member"),
                json.count("wanted"),
                json.count("unit"),
                json.count("least"),
                json.count("limit"),
                json.number("since"),
                new Claim.Shown(json.has(BEYOND) ? json.count(BEYOND) : 0),
                entry.modified(),
                json);
    }

    /** Of a member that has just begun to wait. */
    static String text(PermitRecord record, String member, long since) {
        return text(JsonObject.EMPTY, record, member, since);
    }

    /**
     * Of this member, which goes on waiting.
     *
     * @param place its position, which the plan may have changed
     */
    String text(PermitRecord record, long place) {
        return text(json, record, member, place);
    }

    private static String text(JsonObject before, PermitRecord record, String member, long since) {
        Map<String, Object> fields = new HashMap<>(Map.of(
                "member", member,
                "wanted", record.wanted(),
                "unit", record.weightOfHead(),
                "least", record.least(),
                "limit", record.limit(),
                "since", since));
        // Left out while it is 0, as versions before this field have written it.
        int beyond = record.shown().waitingBeyondWanted();
        if (beyond > 0 || before.has(BEYOND)) {
            fields.put(BEYOND, beyond);
        }
        return Format.text(before, fields);
    }

    /**
     * Whether the record says what Consul has. Then nothing is written. The permits are not part of the entry, since
     * they are counted from the places that the session holds.
     */
    boolean isSame(PermitRecord now, long place) {
        return wanted == now.wanted()
                && weightOfHead == now.weightOfHead()
                && least == now.least()
                && limit == now.limit()
                && since == place
                && shown.equals(now.shown());
    }

    /** Without a sequence, which Consul does not store: its check-and-set refuses a doubled claim. */
    PermitRecord record(int permits) {
        return new PermitRecord(
                session,
                permits,
                -1,
                0,
                wanted,
                weightOfHead,
                least,
                limit,
                OptionalLong.of(since),
                shown,
                PermitRecord.NEVER);
    }

    /** Of a session that holds and does not wait. It wants what it has, so that the step grants it nothing. */
    static PermitRecord holder(String session, int permits, int limit) {
        return new PermitRecord(
                session,
                permits,
                -1,
                0,
                permits,
                0,
                0,
                limit,
                OptionalLong.empty(),
                Claim.Shown.NOTHING,
                PermitRecord.NEVER);
    }
}
