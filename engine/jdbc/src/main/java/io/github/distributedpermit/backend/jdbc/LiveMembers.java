package io.github.distributedpermit.backend.jdbc;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * What the two connections of a process share: the epoch of its session, and the sessions that have a row, as far as this
 * process knows. A session ends with its row, and its name never returns, so that one that is missing here may be new and has
 * to be looked up, and one that is here may have ended since the last look. Thread-safe.
 */
final class LiveMembers {

    private Set<String> known = Set.of();
    private long epoch;

    /** The epoch that the session of this process has entered last; 0 before its first session. */
    synchronized long epoch() {
        return epoch;
    }

    synchronized void enter(long next) {
        epoch = next;
    }

    synchronized Set<String> known() {
        return known;
    }

    /** Sessions that were found to have a row. */
    synchronized void add(Collection<String> found) {
        if (!known.containsAll(found)) {
            Set<String> all = new HashSet<>(known);
            all.addAll(found);
            known = Set.copyOf(all);
        }
    }

    /**
     * All rows were read.
     *
     * @param before what was {@link #known} before that: a session that was added meanwhile may be missing in the answer
     * @param found those that have a row
     */
    synchronized void replace(Set<String> before, Collection<String> found) {
        Set<String> all = new HashSet<>(known);
        all.removeAll(before);
        all.addAll(found);
        known = Set.copyOf(all);
    }
}
