package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * First come, first served between processes: a call that gets a permit has not asked much later than one that waits on
 * in another process, alive. Only for runs with one thread to a process, for hand-over within a process may overtake.
 */
final class OrderCheck {

    private OrderCheck() {}

    static void check(int key, List<Call> calls, Circumstances circumstances, Rules rules, Findings findings) {
        if (rules.order() == null) {
            return;
        }
        long tolerance = rules.order().toNanos();
        Timeline<Call> waits = new Timeline<>();
        for (Call call : calls) {
            long until = call.wasGranted() ? call.entered() : call.ended() != 0 ? call.ended() : Long.MAX_VALUE;
            until = Math.min(until, circumstances.death(call.member()));
            Span wait = new Span(call.asked(), until);
            boolean paused = circumstances.pauses(call.member()).stream().anyMatch(wait::overlaps);
            if (call.kind() == CallKind.WAIT && until > call.asked() && !paused) {
                waits.add(call, wait);
            }
        }
        TreeSet<Call> line = new TreeSet<>(Comparator.comparingLong(Call::asked)
                .thenComparingInt(Call::member)
                .thenComparingInt(Call::thread));
        for (Timeline.Moment<Call> moment : waits.inOrder()) {
            Call call = moment.what();
            if (moment.begins()) {
                line.add(call);
                continue;
            }
            line.remove(call);
            if (call.wasGranted() && call.entered() == moment.at() && !line.isEmpty()) {
                long by = call.asked() - line.first().asked();
                findings.overtakenNanos = Math.max(findings.overtakenNanos, by);
                if (by > tolerance) {
                    findings.violation("key %d: a call was served that had come %d ms after one that waited on: %s, %s"
                            .formatted(key, by / 1_000_000, call, line.first()));
                }
            }
        }
    }
}
