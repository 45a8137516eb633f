package io.github.distributedpermit.backend.consul;

import java.util.Set;

/**
 * The permits of one key that Consul must have recorded for this member, given what its own claims left it. No other
 * member takes permits away, so that a missing one was deleted or changed from outside. Confined to the loop.
 */
final class RecordedPermits {

    /** Of the last state of the key that was seen, of which at least {@link #ofThose} must still be there. */
    private Set<String> names = Set.of();

    private int ofThose;
    private int count;

    /** The least number of permits that Consul must have. */
    int count() {
        return count;
    }

    /** A claim is about to be made that leaves the member at least {@code held} of its permits, up to {@code wanted}. */
    void claims(int held, int wanted) {
        atMost(Math.min(held, wanted));
    }

    /** Another member has granted permits and states how many there are now. */
    void granted(int permits) {
        count = permits;
        ofThose = Math.min(ofThose, permits);
    }

    /** How many permits are gone, in a state of the key in which the member has these. */
    int missing(Set<String> seen) {
        long kept = names.stream().filter(seen::contains).count();
        return (int) Math.max(0, Math.max(ofThose - kept, count - seen.size()));
    }

    /**
     * The key was read.
     *
     * @param seen the permits that the member has
     * @param kept the least number of them that claims under way leave to the member
     */
    void seen(Set<String> seen, int kept) {
        names = seen;
        ofThose = seen.size();
        count = seen.size();
        atMost(kept);
    }

    private void atMost(int permits) {
        count = Math.min(count, permits);
        ofThose = Math.min(ofThose, permits);
    }

    /** The session is lost, and every permit with it. */
    void forget() {
        seen(Set.of(), 0);
    }
}
