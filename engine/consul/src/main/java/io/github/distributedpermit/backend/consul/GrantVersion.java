package io.github.distributedpermit.backend.consul;

/**
 * Computes the versions of one member's record of one key. A version consists of a Raft index, a count of what the member
 * received at that index, and the lowest place among the member's permits. Versions grow, and no other member has the same
 * version for a grant: at one index, a place belongs to one member.
 *
 * <pre>
 * bit 63      22        10       0
 *      | index | count   | place |
 * </pre>
 *
 * <p>The index stays below 2^41, which is some two trillion changes of Consul. Stateless. {@link ConsulSnapshot} and
 * {@link KeyUse} call it. The core orders answers and notifications by these versions, and they are a part of the
 * fencing token of a permit.
 */
final class GrantVersion {

    /** The highest limit of a key: a version has ten bits for a place, and a slot three digits. */
    static final int MAX_LIMIT = 1000;

    /** Enough for the places 0 to 999 and for {@link #NO_PLACE}. */
    private static final int PLACE_BITS = 10;
    /**
     * The count rises with each answer at one index, which is at most a few times: every change of the key has a new
     * index.
     */
    private static final int COUNT_BITS = 12;

    private static final long MAX_COUNT = (1L << COUNT_BITS) - 1;

    /** The place of a member without permits, which gets no token. */
    static final int NO_PLACE = (1 << PLACE_BITS) - 1;

    private GrantVersion() {}

    /**
     * The version of an answer.
     *
     * @param index the highest index that the member has received
     * @param own whether the index is that of the member's own change, which precedes what others read at it
     * @param last the version that the member was given last; 0 if none
     * @param place the lowest of the member's places, or {@link #NO_PLACE}
     * @return never lower than {@code last}
     */
    static long ofAnswer(long index, boolean own, int place, long last) {
        long lastIndex = last >>> (PLACE_BITS + COUNT_BITS);
        // A read counts 1, so that it is newer than the notice of a grant at the same index, which counts 0.
        if (index > lastIndex || last == 0) {
            return of(index, own ? 0 : 1, place);
        }
        if (!own) {
            return last; // nothing was written since
        }
        long lastCount = (last >>> PLACE_BITS) & MAX_COUNT;
        // The member's own change deleted entries only, so that the highest index which can still be seen has not
        // changed.
        return of(lastIndex, Math.min(MAX_COUNT, lastCount + 1), place);
    }

    /** The version of a notice that another member wrote at this index. */
    static long ofNotice(long index, int place) {
        return of(index, 0, place);
    }

    /** The parts do not overlap, as long as each is within its bits. */
    private static long of(long index, long count, int place) {
        return index << (PLACE_BITS + COUNT_BITS) | count << PLACE_BITS | place;
    }
}
