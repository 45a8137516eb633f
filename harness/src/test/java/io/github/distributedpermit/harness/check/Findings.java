package io.github.distributedpermit.harness.check;

import java.util.ArrayList;
import java.util.List;

/** What a check found. Filled by one thread. */
public final class Findings {

    private static final int MOST = 20;

    private final List<String> violations = new ArrayList<>();
    private int more;
    long grants;
    long losses;
    int mostHolders;
    long overGrantNanos;
    long recoveryNanos;
    long lateNanos;
    long overtakenNanos;

    void violation(String text) {
        if (violations.size() < MOST) {
            violations.add(text);
        } else {
            more++;
        }
    }

    /** What must not be. */
    public List<String> violations() {
        List<String> all = new ArrayList<>(violations);
        if (more > 0) {
            all.add("and " + more + " more");
        }
        return all;
    }

    /** How many permits were granted. */
    public long grants() {
        return grants;
    }

    /** How many were lost while a call held them, as the library told. */
    public long losses() {
        return losses;
    }

    /** The most valid holders of any key. */
    public int mostHolders() {
        return mostHolders;
    }

    /** The longest time that a key had more than allowed, where that is a named exception. */
    public long overGrantNanos() {
        return overGrantNanos;
    }

    /** The longest time that a free permit and a live waiter were there at once. */
    public long recoveryNanos() {
        return recoveryNanos;
    }

    /** How late the latest wait ended. */
    public long lateNanos() {
        return lateNanos;
    }

    /** By how much a call was overtaken at most. */
    public long overtakenNanos() {
        return overtakenNanos;
    }
}
