package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Never more than the limit hold validly. */
final class LimitCheck {

    private LimitCheck() {}

    static void check(int key, List<Call> calls, Circumstances circumstances, Rules rules, Findings findings) {
        Timeline<Call> holders = new Timeline<>();
        for (Call call : calls) {
            if (call.wasGranted() && call.held() >= call.entered()) {
                holders.add(call, new Span(call.entered(), call.held()));
            }
        }
        List<Call> inside = new ArrayList<>();
        long since = 0;
        for (Timeline.Moment<Call> moment : holders.inOrder()) {
            if (moment.begins()) {
                inside.add(moment.what());
                if (inside.size() == rules.limit() + 1) {
                    since = moment.at();
                }
            } else {
                if (inside.size() == rules.limit() + 1) {
                    over(key, new Span(since, moment.at()), inside, circumstances, rules, findings);
                }
                inside.remove(moment.what());
            }
            findings.mostHolders = Math.max(findings.mostHolders, inside.size());
        }
    }

    private static void over(
            int key, Span when, List<Call> inside, Circumstances circumstances, Rules rules, Findings findings) {
        Optional<Span> fault = circumstances.excuseOf(when);
        if (fault.isPresent()) {
            findings.over(fault.get(), when);
            long spread = findings.overSpreadNanos();
            if (rules.over() != null && spread > rules.over().toNanos()) {
                findings.violation("key %d: %d valid holders, %d ms after the first such moment of the same fault"
                        .formatted(key, inside.size(), spread / 1_000_000));
            }
        } else {
            findings.violation("key %d: %d valid holders for %d us from %d on: %s"
                    .formatted(key, inside.size(), when.length() / 1_000, when.from(), inside));
        }
    }
}
