package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.HoldingListener;
import java.security.SecureRandom;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * What all keys of a member share.
 *
 * @param member its id
 * @param nodes access to the tree
 * @param session the member's
 * @param listener the core
 * @param scheduler the member's one thread
 * @param ticker the monotonic clock
 * @param joins counts the nodes the member has made
 */
record MemberContext(
        String member,
        Nodes nodes,
        MemberSession session,
        HoldingListener listener,
        ScheduledExecutorService scheduler,
        LongSupplier ticker,
        AtomicLong joins) {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int EAGER = 2;
    private static final int MOST_DOUBLINGS = 7;
    private static final long BACK_OFF_MICROS = 200;

    String nextNode() {
        return Names.member(member, joins.incrementAndGet());
    }

    long random() {
        return RANDOM.nextLong();
    }

    long now() {
        return ticker.getAsLong();
    }

    /** Lost races twice repeat at once; then after 0.2 to 0.4 ms, doubling up to 50. */
    void retry(int attempt, Runnable task) {
        if (attempt <= EAGER) {
            task.run();
        } else {
            long least = BACK_OFF_MICROS << Math.min(attempt - EAGER, MOST_DOUBLINGS);
            long delay = ThreadLocalRandom.current().nextLong(least, 2 * least);
            scheduler.schedule(task, delay, TimeUnit.MICROSECONDS);
        }
    }
}
