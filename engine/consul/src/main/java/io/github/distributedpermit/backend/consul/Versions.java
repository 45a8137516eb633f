package io.github.distributedpermit.backend.consul;

/**
 * The versions of one member's record of one key, as long as its session lives: Raft index, then a count of what was
 * learnt at that index, then the member's lowest slot. Growing, and never that of another member's grant: at any index, a
 * slot has one holder. Confined.
 */
final class Versions {

    private static final int SLOT_BITS = 10;
    private static final int COUNT_BITS = 12;
    private static final long MAX_COUNT = (1L << COUNT_BITS) - 1;
    /** In place of a slot for who holds none, and so gives no token. */
    private static final int NO_SLOT = (1 << SLOT_BITS) - 1;

    private long index;
    /** At least {@link #index}: what was read on the way to an answer, and may have been deleted since, counts. */
    private long seen;

    private long count;
    private long last;

    /** The member has read the key as of this index. */
    void seen(long boardIndex) {
        seen = Math.max(seen, boardIndex);
    }

    /** Whether a notice written at this index tells what no answer has told. */
    boolean isNews(long noticeIndex) {
        return noticeIndex > seen;
    }

    /**
     * Of an answer.
     *
     * @param own whether the index is that of the member's own change, which comes before what others read at it
     */
    long answer(Board board, String session, boolean own) {
        seen(board.index());
        if (seen > index) {
            index = seen;
            count = own ? 0 : 1;
        } else {
            count = Math.min(MAX_COUNT, count + 1);
        }
        int slot = board.lowestPlace(session).orElse(NO_SLOT);
        last = of(index, count, slot);
        return last;
    }

    /** Of an answer to a late claim, which is the last answer once more unless the key has changed since. */
    long again(Board board, String session) {
        return last == 0 || board.index() > index ? answer(board, session, false) : last;
    }

    /** Of a notice, which its sender wrote at that index; only if it {@linkplain #isNews is news}. */
    long notice(long noticeIndex, int slot) {
        seen(noticeIndex);
        index = noticeIndex;
        count = 0;
        last = of(index, count, slot);
        return last;
    }

    /** Whether the key must change before versions can go on growing. */
    boolean areUsedUp() {
        return count >= MAX_COUNT - 1;
    }

    private static long of(long index, long count, int slot) {
        return index << (SLOT_BITS + COUNT_BITS) | count << SLOT_BITS | slot;
    }
}
