package io.github.distributedpermit.harness.check;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a check found. Filled by one thread. */
public final class Findings {

    private static final int MOST = 20;

    private final List<String> violations = new ArrayList<>();
    private int more;
    long grants;
    long losses;
    int mostHolders;
    private long overGrantNanos;
    private final Map<Span, Span> overgrants = new HashMap<>();
    long firstCallNanos;
    final List<Long> firstOfKeyNanos = new ArrayList<>();
    long recoveryNanos;
    final List<Long> lateNanos = new ArrayList<>();
    long overtakenNanos;
    double stalledShare;

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

    /** A key had more than allowed because of a fault. */
    void over(Span fault, Span when) {
        overGrantNanos = Math.max(overGrantNanos, when.length());
        overgrants.merge(fault, when, (a, b) -> new Span(Math.min(a.from(), b.from()), Math.max(a.to(), b.to())));
    }

    /** The longest time from the first to the last moment with more than allowed after one fault, on any key. */
    public long overSpreadNanos() {
        return overgrants.values().stream().mapToLong(Span::length).max().orElse(0);
    }

    /** The longest time that a process got no permit after there was a server that could serve. */
    public long firstCallNanos() {
        return firstCallNanos;
    }

    /**
     * How long after there was a server that could serve half of all keys had their first grant at most; 0 if that was not
     * measured.
     */
    public long firstOfHalfNanos() {
        return share(firstOfKeyNanos, 0.5);
    }

    /** Likewise of nine in ten. */
    public long firstOfMostNanos() {
        return share(firstOfKeyNanos, 0.9);
    }

    /** The longest time that a free permit and a live waiter were there at once. */
    public long recoveryNanos() {
        return recoveryNanos;
    }

    /** How late the latest wait ended, of those whose time-out came; times when processes could not run do not count. */
    public long lateNanos() {
        return late(1);
    }

    /** Likewise the latest but one in a thousand. */
    public long usuallyLateNanos() {
        return late(0.999);
    }

    private long late(double share) {
        return share(lateNanos, share);
    }

    private static long share(List<Long> times, double share) {
        List<Long> sorted = times.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(share * sorted.size()) - 1);
    }

    /** For how much of the history the machine could not run some process that wanted to. */
    public double stalledShare() {
        return stalledShare;
    }

    /** By how much a call was overtaken at most. */
    public long overtakenNanos() {
        return overtakenNanos;
    }
}
