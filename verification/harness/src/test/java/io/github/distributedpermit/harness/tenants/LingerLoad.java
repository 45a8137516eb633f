package io.github.distributedpermit.harness.tenants;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One member calls all the time, with pauses, and keeps its permit for the time of {@code linger}; all others want it now and then. */
final class LingerLoad {

    static final String NAME = "linger";

    private static final String REFUSED = "refused";
    private static final String WAITED = "waited";
    private static final Duration FOR_EVER = Duration.ofSeconds(60);

    private final NamedPermits permits;
    private final Queue<Grant> calls = new ConcurrentLinkedQueue<>();

    LingerLoad(NamedPermits permits) {
        this.permits = permits;
    }

    List<Grant> calls() {
        return List.copyOf(calls);
    }

    void run(int member, long until) throws InterruptedException {
        Random random = new Random(member);
        while (System.nanoTime() < until) {
            if (member == 0) {
                call("owner", true, 0.2);
                pause(2 + 10 * random.nextDouble());
            } else {
                call(WAITED, random.nextBoolean(), 0.2);
                pause(10 + 50 * random.nextDouble());
            }
        }
    }

    private void call(String kind, boolean waits, double holdMillis) throws InterruptedException {
        PermitRequest.Builder request = PermitRequest.builder(NAME);
        long arrived = System.nanoTime();
        Optional<Permit> permit =
                permits.tryAcquire((waits ? request.timeout(FOR_EVER) : request.withoutWaiting()).build());
        long granted = System.nanoTime();
        if (permit.isEmpty()) {
            calls.add(new Grant(waits ? "timed out" : REFUSED, "refusals", arrived, granted, granted));
            return;
        }
        try (Permit held = permit.get()) {
            pause(holdMillis);
            calls.add(new Grant(waits ? kind : "tried", held.key(), arrived, granted, System.nanoTime()));
        }
    }

    private static void pause(double millis) {
        LockSupport.parkNanos((long) (millis * TimeUnit.MILLISECONDS.toNanos(1)));
    }

    /** How often a call was refused that overlapped with no call that held, and how long calls waited while none held. */
    static String result(List<Grant> calls) {
        List<Grant> held = calls.stream()
                .filter(call -> call.key().equals(NAME))
                .sorted(Comparator.comparingLong(Grant::granted))
                .toList();
        List<Grant> refused =
                calls.stream().filter(call -> call.kind().equals(REFUSED)).toList();
        long tried = calls.stream().filter(call -> call.kind().equals("tried")).count() + refused.size();
        long idle = refused.stream().filter(call -> inUse(held, call) == 0).count();
        List<Double> waits = new ArrayList<>();
        for (Grant call : held) {
            if (call.kind().equals(WAITED)) {
                waits.add(call.waitedMillis() - inUse(held, call) / 1e6);
            }
        }
        waits.sort(null);
        return "of %d tries %d refused, %d of these while no call held; %d calls waited while no call held for %.2f ms (median), %.2f ms (99 %%), %.2f ms (longest)"
                .formatted(
                        tried,
                        refused.size(),
                        idle,
                        waits.size(),
                        waits.get(waits.size() / 2),
                        waits.get(waits.size() * 99 / 100),
                        waits.get(waits.size() - 1));
    }

    /** For how long other calls held while this one waited, in nanoseconds: one at a time, as the limit is 1. */
    private static long inUse(List<Grant> held, Grant call) {
        return held.stream()
                .filter(other -> other != call)
                .mapToLong(
                        other -> Math.min(other.released(), call.granted()) - Math.max(other.granted(), call.arrived()))
                .filter(overlap -> overlap > 0)
                .sum();
    }
}
