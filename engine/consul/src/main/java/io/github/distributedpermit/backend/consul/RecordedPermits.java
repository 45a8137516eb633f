package io.github.distributedpermit.backend.consul;

import java.util.Set;

/**
 * The permits of one key that Consul must have recorded for this member, given what its own changes left it. No other
 * member takes permits away, so that a missing one was deleted or changed from outside.
 *
 * <p>A number alone would not do: while a permit is deleted, another member may grant one. So two numbers are kept. Of the
 * permits that were seen last, by name, {@code ofThose} must still be there, and {@code count} in all. Confined to the event
 * loop.
 */
final class RecordedPermits {

    /** Of the last state of the key that was seen, of which at least {@link #ofThose} must still be there. */
    private Set<String> names = Set.of();

    /** Permits that the member's own changes and reads have left of {@link #names}. */
    private int ofThose;

    private int count;

    /** The least number of permits that Consul must have. */
    int count() {
        return count;
    }

    /**
     * A change is about to be committed that leaves the member so many permits; whether it is made may stay unknown.
     * Which of the permits the change returns is not known here, so that only the numbers are lowered.
     */
    void atMost(int permits) {
        count = Math.min(count, permits);
        ofThose = Math.min(ofThose, permits);
    }

    /**
     * Another member has granted permits and states how many there are now. The names of the new permits are not part
     * of the notice; the next tree has them.
     */
    void granted(int permits) {
        count = permits;
        ofThose = Math.min(ofThose, permits);
    }

    /**
     * How many permits are gone, in a state of the key in which the member has these. The larger of two differences:
     * of the named permits some may be gone while others were granted, or the total may be too low.
     */
    int missing(Set<String> seen) {
        long kept = names.stream().filter(seen::contains).count();
        return (int) Math.max(0, Math.max(ofThose - kept, count - seen.size()));
    }

    /**
     * Whether the member has the permits in a state of the key that it must have, and no others. More may have been granted
     * meanwhile, by a change whose answer was lost for example; or the state is older than the member's return of them.
     */
    boolean isExpected(Set<String> seen) {
        return missing(seen) == 0 && seen.size() == count;
    }

    /** The key was read, or changed by this member; these are the permits that it has. */
    void seen(Set<String> permits) {
        names = permits;
        ofThose = permits.size();
        count = permits.size();
    }
}
