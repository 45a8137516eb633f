package io.github.distributedpermit.test;

import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.test.PermitCall.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The calls for permits since the test began, and how many permits of each key were held at once. Thread-safe. */
final class PermitLog {

    private final List<PermitCall> calls = new ArrayList<>();
    private final Map<Held, Integer> held = new HashMap<>();
    private final Map<Held, Integer> highest = new HashMap<>();

    /** The permits of a key under a name. */
    record Held(String name, String key) {

        static Held by(PermitCall call) {
            return new Held(call.name, call.key);
        }
    }

    synchronized PermitCall begin(String name, PermitRequest request) {
        PermitCall call = new PermitCall(name, request);
        calls.add(call);
        return call;
    }

    /** The call has its permit. */
    synchronized void granted(PermitCall call) {
        call.phase = Phase.HELD;
        Held by = Held.by(call);
        highest.merge(by, held.merge(by, call.permits, Integer::sum), Math::max);
    }

    /** The call has given its permit back. Has no effect the second time. */
    synchronized void released(PermitCall call) {
        if (call.phase == Phase.HELD) {
            call.phase = Phase.RELEASED;
            held.computeIfPresent(
                    Held.by(call), (by, permits) -> permits == call.permits ? null : permits - call.permits);
        }
    }

    /** The call has ended without a permit. */
    synchronized void ended(PermitCall call, Phase phase) {
        if (call.phase == Phase.WAITING) {
            call.phase = phase;
        }
    }

    /** The calls that match, oldest first. */
    synchronized List<PermitCall> calls(Predicate<PermitCall> which) {
        return calls.stream().filter(which).toList();
    }

    /** How many permits were held at once at most. */
    synchronized Map<Held, Integer> highest() {
        return Map.copyOf(highest);
    }

    /** Begins anew. Permits that are still held, and calls that still wait, are not forgotten. */
    synchronized void clear() {
        calls.removeIf(call -> call.phase != Phase.HELD && call.phase != Phase.WAITING);
        calls.forEach(call -> call.earlier = true);
        highest.clear();
        highest.putAll(held);
    }
}
