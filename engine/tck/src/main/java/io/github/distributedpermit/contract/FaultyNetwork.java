package io.github.distributedpermit.contract;

import io.github.distributedpermit.contract.Fault.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Carries messages, badly: each may be lost, late, doubled, and overtaken by a later one. Messages may come from any
 * thread; they are delivered by whoever {@linkplain #pump pumps}.
 */
final class FaultyNetwork {

    private static final double LOST = 0.04;
    private static final double DOUBLED = 0.12;
    private static final double DELAYED = 0.3;
    private static final double VERY_LATE = 0.1;
    private static final double UNSEEN = 0.6;
    private static final int MOST_AT_ONCE = 100_000;

    private record Parcel(
            Kind kind, String route, long number, boolean copy, long sentAt, long due, Runnable delivery) {}

    private final LongSupplier nanoTime;
    private final Random random;
    private final Set<Fault> faults;
    private final Fault.Counts counts;
    private final List<Parcel> pending = new ArrayList<>();
    private final Map<String, Long> lastDue = new HashMap<>();
    private final long late;
    private long veryLate;
    private long number;
    private boolean calm;

    /** @param late how long messages are delayed that are not very late */
    FaultyNetwork(LongSupplier nanoTime, long seed, Set<Fault> faults, Fault.Counts counts, Duration late) {
        this.nanoTime = nanoTime;
        this.random = new Random(seed);
        this.faults = faults;
        this.counts = counts;
        this.late = late.toNanos();
        this.veryLate = late.toNanos();
    }

    /** Whether each kind of fault has hit in some test so far. */
    boolean hasHitWithAll() {
        return counts.missing(faults).isEmpty();
    }

    /** From now on some messages are as late as this. */
    synchronized void delayUpTo(Duration longest) {
        veryLate = longest.toNanos();
    }

    /** From now on nothing goes wrong; what is on its way arrives. */
    void calm() {
        synchronized (this) {
            calm = true;
        }
        flush();
    }

    /** From now on things go wrong again. */
    synchronized void rough() {
        calm = false;
    }

    /**
     * Sends a message.
     *
     * @param route messages of one kind and route would arrive in order on a good network
     * @param again what a second copy does
     */
    synchronized void send(Kind kind, String route, Runnable delivery, Runnable again) {
        number++;
        long now = nanoTime.getAsLong();
        if (strikes(kind.lost(), LOST)) {
            counts.hit(kind.lost());
        } else {
            add(kind, route, false, now, delivery);
        }
        if (strikes(kind.doubled(), DOUBLED)) {
            add(kind, route, true, now, again);
        }
    }

    private void add(Kind kind, String route, boolean copy, long now, Runnable delivery) {
        boolean overtaken = counts.hasHit(kind.reordered()) || !faults.contains(kind.reordered());
        long due = strikes(kind.delayed(), overtaken ? DELAYED : UNSEEN)
                ? now + 1 + random.nextLong(longest(overtaken))
                : now;
        if (!faults.contains(kind.reordered())) {
            due = Math.max(due, lastDue.getOrDefault(kind + route, due));
            lastDue.put(kind + route, due);
        }
        pending.add(new Parcel(kind, route, number, copy, now, due, delivery));
    }

    /** Until a message was overtaken they are later than others: where they are few, none comes behind a short delay. */
    private long longest(boolean overtaken) {
        return random.nextDouble() < (overtaken ? VERY_LATE : UNSEEN) ? veryLate : late;
    }

    /** A fault that has not hit yet is likely: where messages are few, chance alone may spare them all. */
    private boolean strikes(Fault fault, double probability) {
        double likely = counts.hasHit(fault) ? probability : UNSEEN;
        return random.nextDouble() < likely && !calm && faults.contains(fault);
    }

    /** Delivers what is due. */
    void pump() {
        deliverUntil(nanoTime.getAsLong());
    }

    /** Delivers everything, however late it would have been. */
    void flush() {
        deliverUntil(Long.MAX_VALUE);
    }

    private void deliverUntil(long now) {
        int delivered = 0;
        for (Optional<Parcel> next = take(now); next.isPresent(); next = take(now)) {
            next.get().delivery().run();
            delivered++;
            if (delivered > MOST_AT_ONCE) {
                throw new AssertionError("Each message makes another: the members and the store never agree");
            }
        }
    }

    private synchronized Optional<Parcel> take(long now) {
        Optional<Parcel> next = pending.stream()
                .filter(p -> p.due() <= now)
                .min(Comparator.comparingLong(Parcel::due).thenComparingLong(Parcel::number));
        next.ifPresent(this::count);
        next.ifPresent(pending::remove);
        return next;
    }

    private void count(Parcel parcel) {
        if (parcel.copy()) {
            counts.hit(parcel.kind().doubled());
        }
        if (parcel.due() > parcel.sentAt()) {
            counts.hit(parcel.kind().delayed());
        }
        if (pending.stream()
                .anyMatch(p -> p.number() < parcel.number()
                        && p.kind() == parcel.kind()
                        && p.route().equals(parcel.route()))) {
            counts.hit(parcel.kind().reordered());
        }
    }
}
