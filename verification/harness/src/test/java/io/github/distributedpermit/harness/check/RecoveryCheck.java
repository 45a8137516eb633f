package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A free permit and a live waiter are not there at the same time for longer than the store needs to find out. A permit is
 * free once its holder is about to return it, has died, or last knew it held before it was notified of the loss. A waiter is
 * alive while its process is neither dead nor stopped. Outages of the store are taken away, and so are times in which the
 * machine stood still: the store is one of the processes that it did not run.
 */
final class RecoveryCheck {

    private static final long END = Long.MAX_VALUE;

    /** Shorter stalls are ordinary life, for which the bound has room. */
    private static final long STANDSTILL = TimeUnit.MILLISECONDS.toNanos(100);

    private RecoveryCheck() {}

    static void check(
            int key, List<Call> calls, List<Span> stalls, Circumstances circumstances, Rules rules, Findings findings) {
        List<Span> standstills =
                stalls.stream().filter(stall -> stall.length() >= STANDSTILL).toList();
        Timeline<Boolean> changes = new Timeline<>();
        long end = calls.stream().mapToLong(RecoveryCheck::lastSeen).max().orElse(0);
        for (Call call : calls) {
            if (call.wasGranted()) {
                changes.add(
                        true, new Span(call.entered(), Math.max(call.entered(), occupiedUntil(call, circumstances))));
            }
            if (call.kind() == CallKind.WAIT) {
                long until = Math.min(waitsUntil(call, end), circumstances.death(call.member()));
                if (until > call.asked()) {
                    new Span(call.asked(), until)
                            .without(circumstances.pauses(call.member()))
                            .forEach(span -> changes.add(false, span));
                }
            }
        }
        int occupied = 0;
        int waiting = 0;
        long since = 0;
        for (Timeline.Moment<Boolean> moment : changes.inOrder()) {
            boolean before = occupied < rules.least() && waiting > 0;
            int change = moment.begins() ? 1 : -1;
            occupied += moment.what() ? change : 0;
            waiting += moment.what() ? 0 : change;
            boolean after = occupied < rules.least() && waiting > 0;
            boolean granted = moment.what() && moment.begins() && rules.eachGrantCounts();
            if (before && after && granted) {
                gap(key, new Span(since, moment.at()), standstills, circumstances, rules, findings);
                since = moment.at();
            } else if (!before && after) {
                since = moment.at();
            } else if (before && !after) {
                gap(key, new Span(since, moment.at()), standstills, circumstances, rules, findings);
            }
        }
    }

    /** Who still waits when the history ends has waited until then. */
    private static long waitsUntil(Call call, long end) {
        return call.wasGranted() ? call.entered() : call.ended() != 0 ? call.ended() : end;
    }

    private static long lastSeen(Call call) {
        return Math.max(Math.max(call.asked(), call.entered()), Math.max(call.held(), call.ended()));
    }

    private static long occupiedUntil(Call call, Circumstances circumstances) {
        long until = call.leaving() != 0 ? call.leaving() : END;
        if (call.lost() != 0) {
            until = Math.min(until, call.held() + TimeUnit.MILLISECONDS.toNanos(2));
        }
        return Math.min(until, circumstances.death(call.member()));
    }

    private static void gap(
            int key, Span gap, List<Span> standstills, Circumstances circumstances, Rules rules, Findings findings) {
        for (Span piece : gap.without(circumstances.outages())) {
            if (piece.length() <= findings.recoveryNanos) {
                continue;
            }
            long length =
                    piece.without(standstills).stream().mapToLong(Span::length).sum();
            findings.recoveryNanos = Math.max(findings.recoveryNanos, length);
            if (length > rules.recovery().toNanos()) {
                findings.violation("key %d: for %d ms from %d on a permit was free and a call waited"
                        .formatted(key, length / 1_000_000, piece.from()));
            }
        }
    }
}
