package io.github.distributedpermit;

/**
 * Identifies one grant: unique per key and increasing along one permit, so with a limit of 1 totally ordered, and a
 * resource that stores the highest one it saw can refuse lower ones (a fencing token). With a higher limit it tells
 * grants apart but says nothing about which of two concurrent holders came later.
 *
 * @param version the store's version of this member's record, from the store's clock or log
 * @param count number of the grant under that version
 */
public record PermitToken(long version, long count) implements Comparable<PermitToken> {

    @Override
    public int compareTo(PermitToken other) {
        int byVersion = Long.compare(version, other.version);
        return byVersion != 0 ? byVersion : Long.compare(count, other.count);
    }

    /** Fixed width, so that the order of the texts is the order of the tokens. */
    @Override
    public String toString() {
        return "%016x-%08x".formatted(version, count);
    }
}
