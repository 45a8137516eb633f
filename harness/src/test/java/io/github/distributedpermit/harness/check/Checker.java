package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.Ending;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks a history for the invariants. It knows nothing of the library but what the calls noted.
 *
 * <p>A permit counts as <em>validly held</em> from the moment at which the call had noted that it has it, up to the last
 * moment of which the call knows that the library afterwards still called it held ({@code Permit.isHeld()}, asked every
 * millisecond and right before the return). So it needs no knowledge of leases, and works for processes that were killed,
 * stopped or cut off: a killed one held at least until its last look; a stopped one that wakes after its lease must be
 * told "not held" at its next look, or its span overlaps those that were served meanwhile. What is counted is never
 * longer than what was really claimed to be valid, so each violation is real; it is shorter by a millisecond at most.
 */
public final class Checker {

    private Checker() {}

    /** Checks everything. */
    public static Findings check(List<Call> calls, Circumstances circumstances, Rules rules) {
        Findings findings = new Findings();
        Map<Integer, List<Call>> keys = calls.stream().collect(Collectors.groupingBy(Call::key));
        keys.forEach((key, some) -> {
            LimitCheck.check(key, some, circumstances, rules, findings);
            RecoveryCheck.check(key, some, circumstances, rules, findings);
            OrderCheck.check(key, some, circumstances, rules, findings);
            tokens(key, some, circumstances, findings);
        });
        calls.forEach(call -> single(call, circumstances, rules, findings));
        return findings;
    }

    private static void tokens(int key, List<Call> calls, Circumstances circumstances, Findings findings) {
        record Token(long life, long version, long count) {}
        Set<Token> seen = new HashSet<>();
        for (Call call : calls) {
            if (call.wasGranted()
                    && !seen.add(new Token(circumstances.life(call.entered()), call.version(), call.count()))) {
                findings.violation(
                        "key %d: token (%d, %d) was given twice".formatted(key, call.version(), call.count()));
            }
        }
    }

    private static void single(Call call, Circumstances circumstances, Rules rules, Findings findings) {
        findings.grants += call.wasGranted() ? 1 : 0;
        findings.losses += call.lost() != 0 ? 1 : 0;
        if (call.ending() == Ending.BROKEN) {
            findings.violation("a call ended with an exception that it must not see: " + call);
        }
        boolean dead = circumstances.death(call.member()) != Long.MAX_VALUE;
        if (call.ended() == 0 && !dead) {
            findings.violation("a call never ended: " + call);
        }
        if (call.kind() != CallKind.WAIT || dead) {
            return;
        }
        long end = call.wasGranted() ? call.entered() : call.ended();
        Span wait = new Span(call.asked(), end);
        if (end == 0 || circumstances.pauses(call.member()).stream().anyMatch(wait::overlaps)) {
            return;
        }
        long late = wait.length() - call.timeout();
        findings.lateNanos = Math.max(findings.lateNanos, late);
        if (late > rules.late().toNanos()) {
            findings.violation("a wait ended %d ms too late: %s".formatted(late / 1_000_000, call));
        }
        if (call.ending() == Ending.TIMED_OUT && late < 0) {
            findings.violation("a wait ended %d us too early: %s".formatted(-late / 1_000, call));
        }
    }
}
