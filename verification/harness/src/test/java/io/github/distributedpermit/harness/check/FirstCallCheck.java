package io.github.distributedpermit.harness.check;

import io.github.distributedpermit.harness.history.Call;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Once there is a server that can serve, every process soon gets permits, and keeps getting them: what counts is the longest
 * time without a grant that begins within five seconds, for a single grant may be of before. Other outages of the store do not
 * count, nor do processes that were killed. Only for runs in which permits are held so shortly that none waits for another.
 */
final class FirstCallCheck {

    private static final long SETTLED = TimeUnit.SECONDS.toNanos(5);

    private FirstCallCheck() {}

    static void check(List<Call> calls, Circumstances circumstances, Rules rules, Findings findings) {
        Duration bound = rules.firstCall();
        if (circumstances.returns().isEmpty()) {
            return;
        }
        firstOfKeys(calls, circumstances, findings);
        if (bound == null) {
            return;
        }
        Map<Integer, List<Call>> members = calls.stream().collect(Collectors.groupingBy(Call::member));
        members.forEach((member, own) -> {
            if (circumstances.death(member) == Long.MAX_VALUE) {
                long begin = own.stream().mapToLong(Call::asked).min().orElse(0);
                circumstances.returns().stream()
                        .filter(at -> at > begin)
                        .forEach(at -> after(at, member, own, circumstances, bound, findings));
            }
        });
    }

    /** When each key was first granted, to whichever process. */
    private static void firstOfKeys(List<Call> calls, Circumstances circumstances, Findings findings) {
        Map<Integer, List<Call>> keys =
                calls.stream().filter(Call::wasGranted).collect(Collectors.groupingBy(Call::key));
        keys.values()
                .forEach(own -> circumstances
                        .returns()
                        .forEach(at -> own.stream()
                                .mapToLong(Call::entered)
                                .filter(entered -> entered >= at)
                                .min()
                                .ifPresent(entered -> findings.firstOfKeyNanos.add(entered - at))));
    }

    private static void after(
            long at, int member, List<Call> own, Circumstances circumstances, Duration bound, Findings findings) {
        long end = own.stream()
                .mapToLong(call -> Math.max(call.asked(), call.entered()))
                .max()
                .orElse(at);
        long[] grants = own.stream()
                .mapToLong(Call::entered)
                .filter(entered -> entered >= at)
                .sorted()
                .toArray();
        long since = at;
        for (int i = 0; since < at + SETTLED && since < end; i++) {
            long until = i < grants.length ? grants[i] : end;
            for (Span gap : new Span(since, until).without(circumstances.outages())) {
                longest(gap, at, member, bound, findings);
            }
            since = until;
        }
    }

    private static void longest(Span gap, long at, int member, Duration bound, Findings findings) {
        findings.firstCallNanos = Math.max(findings.firstCallNanos, gap.length());
        if (gap.length() > bound.toNanos()) {
            findings.violation("member %d got no permit for %d ms from %d ms after a server could serve, at %d"
                    .formatted(member, gap.length() / 1_000_000, (gap.from() - at) / 1_000_000, at));
        }
    }
}
