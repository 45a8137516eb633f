package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.Ending;
import java.util.ArrayList;
import java.util.Comparator;
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
    public static Findings check(List<Call> history, Circumstances circumstances, Rules rules) {
        Findings findings = new Findings();
        List<Call> calls =
                history.stream().filter(call -> call.kind() != CallKind.STALL).toList();
        List<Span> stalls = stalls(history, circumstances);
        findings.stalledShare = share(stalls, history);
        Map<Integer, List<Call>> keys = calls.stream().collect(Collectors.groupingBy(Call::key));
        keys.forEach((key, some) -> {
            LimitCheck.check(key, some, circumstances, rules, findings);
            RecoveryCheck.check(key, some, stalls, circumstances, rules, findings);
            OrderCheck.check(key, some, circumstances, rules, findings);
            tokens(key, some, circumstances, findings);
        });
        FirstCallCheck.check(calls, circumstances, rules, findings);
        for (Call call : calls) {
            single(call, circumstances, findings);
            late(call, stalls, circumstances, rules, findings);
        }
        return findings;
    }

    /**
     * When the machine could not run a process that wanted to: it has several processors, and which of them stands still
     * may be seen by one process and felt by another. What we stopped ourselves is no stall.
     */
    private static List<Span> stalls(List<Call> history, Circumstances circumstances) {
        List<Span> stalls = new ArrayList<>();
        for (Call call : history) {
            if (call.kind() == CallKind.STALL && call.ended() != 0) {
                Span stall = new Span(call.asked(), call.ended());
                if (circumstances.pauses(call.member()).stream().noneMatch(stall::overlaps)) {
                    stalls.add(stall);
                }
            }
        }
        return stalls;
    }

    /** How much of the history there was a stall. */
    private static double share(List<Span> stalls, List<Call> history) {
        long from = history.stream().mapToLong(Call::asked).min().orElse(0);
        long to = history.stream()
                .mapToLong(call -> Math.max(call.asked(), call.ended()))
                .max()
                .orElse(from);
        long covered = from;
        long sum = 0;
        for (Span stall :
                stalls.stream().sorted(Comparator.comparingLong(Span::from)).toList()) {
            sum += Math.max(0, stall.to() - Math.max(stall.from(), covered));
            covered = Math.max(covered, stall.to());
        }
        return to > from ? (double) sum / (to - from) : 0;
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

    private static void single(Call call, Circumstances circumstances, Findings findings) {
        findings.grants += call.wasGranted() ? 1 : 0;
        findings.losses += call.lost() != 0 ? 1 : 0;
        if (call.ending() == Ending.BROKEN) {
            findings.violation("a call ended with an exception that it must not see: " + call);
        }
        boolean dead = circumstances.death(call.member()) != Long.MAX_VALUE;
        if (call.ended() == 0 && !dead) {
            findings.violation("a call never ended: " + call);
        }
    }

    /** What a wait took longer than it was to, without the times for which processes could not run. */
    private static void late(
            Call call, List<Span> stalls, Circumstances circumstances, Rules rules, Findings findings) {
        long end = call.wasGranted() ? call.entered() : call.ended();
        Span wait = new Span(call.asked(), end);
        boolean dead = circumstances.death(call.member()) != Long.MAX_VALUE;
        boolean paused = circumstances.pauses(call.member()).stream().anyMatch(wait::overlaps);
        if (call.kind() != CallKind.WAIT || end == 0 || dead || paused) {
            return;
        }
        long due = call.asked() + call.timeout();
        if (end < due) {
            if (call.ending() == Ending.TIMED_OUT) {
                findings.violation("a wait ended %d us too early: %s".formatted((due - end) / 1_000, call));
            }
            return;
        }
        long late = new Span(due, end)
                .without(stalls).stream().mapToLong(Span::length).sum();
        findings.lateNanos.add(late);
        if (late > rules.late().toNanos()) {
            findings.violation("a wait ended %d ms too late: %s".formatted(late / 1_000_000, call));
        }
    }
}
