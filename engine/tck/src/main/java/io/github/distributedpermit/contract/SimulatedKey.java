package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The discipline of the core for one key: shrink before a claim leaves, grow after its answer; answers and notices go
 * through one {@link #apply}, ordered by sequence and version, capped by what later claims leave.
 */
final class SimulatedKey {

    private static final int WINDOW = 4;
    private static final long TIMEOUT_NANOS = 20_000_000;

    private record Waiter(int weight, long arrived) {}

    private record Sent(int held, int wanted, long at) {}

    private final SimulatedMember member;
    private final String key;
    private final int limit;
    private final Deque<Waiter> waiters = new ArrayDeque<>();
    private final Deque<Integer> holders = new ArrayDeque<>();
    private final NavigableMap<Long, Sent> sent = new TreeMap<>();
    private @Nullable Holding applied;
    private long appliedSentAt;
    private int appliedWanted;
    private long validUntil = Long.MIN_VALUE;
    private int granted;
    private boolean giveBack;
    private int grants;
    private int losses;
    private boolean gotMoreThanItWanted;
    private int lostSessions;

    SimulatedKey(SimulatedMember member, String key, int limit) {
        this.member = member;
        this.key = key;
        this.limit = limit;
    }

    String key() {
        return key;
    }

    /** Weights of calls that run and whose permits are valid at this time. */
    int inUse(long now) {
        return now < validUntil && lostSessions == member.lostSessions() ? inUse() : 0;
    }

    int grants() {
        return grants;
    }

    /** Whether an answer or a notice has stated more permits than the claim of its sequence, or one after it, wanted. */
    boolean gotMoreThanItWanted() {
        return gotMoreThanItWanted;
    }

    int losses() {
        return losses;
    }

    int waiting() {
        return waiters.size();
    }

    /** No call holds or waits, and the store has confirmed it. */
    boolean isAtRest() {
        return waiters.isEmpty() && holders.isEmpty() && sent.isEmpty() && (applied == null || applied.permits() == 0);
    }

    /** Whether a claim is unanswered that was sent less than this time ago. */
    boolean awaitsAnswer(Duration patience) {
        long now = now();
        return sent.values().stream().anyMatch(claim -> now - claim.at() < patience.toNanos());
    }

    void arrive(int weight) {
        waiters.add(new Waiter(weight, now()));
        claim();
    }

    void cancelFirst() {
        if (waiters.poll() != null) {
            claim();
        }
    }

    void cancelAll() {
        if (!waiters.isEmpty()) {
            waiters.clear();
            claim();
        }
    }

    void release() {
        Integer weight = holders.poll();
        if (weight != null) {
            if (applied != null && applied.others().contended()) {
                granted -= weight;
                giveBack = true;
                claim();
            }
            settle();
        }
    }

    void claim() {
        long now = now();
        checkValidity(now);
        if (!member.isKeptAlive()) {
            sent.values().removeIf(s -> now - s.at() > lease().toNanos());
        }
        if (sent.values().stream().filter(s -> now - s.at() < TIMEOUT_NANOS).count() >= WINDOW) {
            return; // the next event tries again
        }
        Waiter head = waiters.peek();
        int weight = head == null ? 0 : head.weight();
        int all = inUse() + waiters.stream().mapToInt(Waiter::weight).sum();
        int wanted = Math.min(all, Math.max(limit, inUse() + weight));
        int held = giveBack ? inUse() : wanted;
        granted = Math.min(granted, held);
        giveBack = false;
        Duration waited = Duration.ofNanos(head == null ? 0 : now - head.arrived());
        long sequence = member.nextSequence();
        sent.put(sequence, new Sent(held, wanted, now));
        member.store()
                .claim(Claim.of(key, sequence, lease())
                        .limit(limit)
                        .wanted(wanted)
                        .held(held)
                        .head(new Claim.Head(weight, waited, head != null)))
                .whenComplete((holding, failure) -> {
                    if (holding != null && !member.isDead()) {
                        apply(holding);
                    }
                });
    }

    void apply(Holding holding) {
        long now = now();
        checkValidity(now);
        Sent claim = sent.get(holding.sequence());
        boolean again = applied != null && applied.sequence() == holding.sequence();
        if ((claim == null && !again) || !isNewer(holding)) {
            return;
        }
        long sentAt = claim == null ? appliedSentAt : claim.at();
        long valid = member.isKeptAlive() ? Long.MAX_VALUE : sentAt + lease().toNanos() * 19 / 20;
        if (now >= valid) {
            return;
        }
        int permits = holding.permits();
        for (Sent later : sent.tailMap(holding.sequence(), false).values()) {
            permits = Math.min(permits, later.held());
        }
        if (giveBack) {
            permits = Math.min(permits, granted);
        }
        sent.headMap(holding.sequence(), true).clear();
        applied = holding;
        appliedSentAt = sentAt;
        appliedWanted = claim == null ? appliedWanted : claim.wanted();
        // A later claim without an answer may have been executed: a store that records no sequences does not say so.
        int mostWanted = sent.values().stream().mapToInt(Sent::wanted).reduce(appliedWanted, Math::max);
        gotMoreThanItWanted |= holding.permits() > mostWanted;
        validUntil = valid;
        while (inUse() > permits) {
            holders.removeLast();
            losses++;
        }
        granted = permits;
        settle();
    }

    private boolean isNewer(Holding holding) {
        return applied == null
                || holding.sequence() > applied.sequence()
                || (holding.sequence() == applied.sequence() && holding.version() > applied.version());
    }

    private void settle() {
        Waiter head = waiters.peek();
        while (head != null && granted - inUse() >= head.weight()) {
            holders.add(head.weight());
            grants++;
            waiters.remove();
            head = waiters.peek();
        }
        if (granted > inUse()) {
            granted = inUse();
            giveBack = true;
            claim();
        }
    }

    private void checkValidity(long now) {
        int lost = member.lostSessions();
        if (lostSessions != lost) {
            // what the store still says of earlier claims it says to a member that is no more
            lostSessions = lost;
            losses += holders.size();
            holders.clear();
            granted = 0;
            giveBack = false;
            sent.clear();
            applied = null;
        }
        if (now >= validUntil && granted > 0) {
            losses += holders.size();
            holders.clear();
            granted = 0;
        }
    }

    @Override
    public String toString() {
        return "key %s: limit %d, %d granted, holders %s, waiters %s, unanswered %s, applied %s"
                .formatted(key, limit, granted, holders, waiters, sent, applied);
    }

    private int inUse() {
        return holders.stream().mapToInt(Integer::intValue).sum();
    }

    private Duration lease() {
        return member.lease();
    }

    private long now() {
        return member.fixture().nanoTime();
    }
}
