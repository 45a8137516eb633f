package io.github.distributedpermit.spi.step;

/**
 * The longest lease that members have stated lately. A grace lasts for that long, because a member may hold a permit for its own
 * lease after the store has lost the record of it, whichever member claims first. Times are microseconds of the server's clock. Not
 * thread-safe.
 *
 * <p>A lease counts in the window of time in which it is stated, and in the next one. No window is shorter than a lease that counts
 * in it. So a lease counts for as long as a permit under it can be valid, and a lease that no member uses any more stops counting.
 */
final class StatedLeases {

    /** The longest of this window. */
    private long stated;
    /** The longest of the window before it. */
    private long before;

    private long windowEnd;

    /** A member states its lease, or one that it knows of another member. */
    void state(long lease, long now) {
        if (now >= windowEnd) {
            before = stated;
            stated = lease;
            windowEnd = now + longest();
        } else if (lease > stated) {
            stated = lease;
            windowEnd = Math.max(windowEnd, now + lease);
        }
    }

    /** A loss was found: each lease that counts now counts for as long as permits of before the loss can be valid. */
    void restart(long now) {
        stated = longest();
        windowEnd = now + stated;
    }

    long longest() {
        return Math.max(stated, before);
    }
}
