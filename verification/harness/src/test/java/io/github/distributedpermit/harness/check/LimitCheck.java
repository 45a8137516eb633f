package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import java.util.ArrayList;
import java.util.List;

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
                    over(key, new Span(since, moment.at()), inside, circumstances, findings);
                }
                inside.remove(moment.what());
            }
            findings.mostHolders = Math.max(findings.mostHolders, inside.size());
        }
    }

    private static void over(int key, Span when, List<Call> inside, Circumstances circumstances, Findings findings) {
        if (circumstances.isExcused(when)) {
            findings.overGrantNanos = Math.max(findings.overGrantNanos, when.length());
        } else {
            findings.violation("key %d: %d valid holders for %d us from %d on: %s"
                    .formatted(key, inside.size(), when.length() / 1_000, when.from(), inside));
        }
    }
}
