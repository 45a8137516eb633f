package io.github.distributedpermit.harness.report;

import io.github.distributedpermit.harness.check.Findings;
import io.github.distributedpermit.harness.scenario.Scenario;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of a run, as it is written down. Times are milliseconds.
 *
 * @param scenario its name
 * @param backend the store
 * @param fault what was done
 * @param expected what had to come of it
 * @param store the store's version
 * @param date when
 * @param seed of all chance
 * @param tried how many blows
 * @param hits how many of them struck what they were aimed at
 * @param grants how many permits were granted meanwhile
 * @param losses how many calls were notified of the loss of their permit
 * @param limit of each key
 * @param mostHolders the most valid holders of any key
 * @param overGrant the longest time with more than the limit, where that is a named exception
 * @param recovery the longest time for which a permit was free and a live call waited
 * @param bound how long that may be
 * @param usuallyLate how late waits ended at their time-out, but for one in a thousand; times when processes could not
 *     run do not count
 * @param late how late the latest wait ended, likewise
 * @param stalled for how many of a hundred parts of the run the machine could not run some process that wanted to
 * @param overtaken by how much a call was overtaken by one of another process, where that is checked
 * @param seconds how long the run took
 * @param overSpread the longest time from the first to the last moment with more than the limit after one fault
 * @param overBound how long that may be, 0 for as long as the fault is excused
 * @param firstCall the longest time that a process got no permit after there was a server that could serve
 * @param firstCallBound how long that may be, 0 if it is not measured
 * @param firstHalf how long after a server could serve half of all keys had their first grant at most; 0 if that was not
 *     measured
 * @param firstMost likewise of nine in ten
 * @param violations what must not be
 * @param origin code and machine
 */
public record Result(
        String scenario,
        String backend,
        String fault,
        String expected,
        String store,
        String date,
        long seed,
        int tried,
        int hits,
        long grants,
        long losses,
        int limit,
        int mostHolders,
        double overGrant,
        double recovery,
        double bound,
        double usuallyLate,
        double late,
        double stalled,
        double overtaken,
        long seconds,
        double overSpread,
        double overBound,
        double firstCall,
        double firstCallBound,
        double firstHalf,
        double firstMost,
        List<String> violations,
        Origin origin) {

    /** How the violation begins that only says that the run came to no end. */
    public static final String STUCK = "the run did not go on: ";

    /** How the violation begins that only says that nothing was hit. */
    public static final String VOID = "void: ";

    /** What a run found. */
    public static Result of(
            Scenario<?> scenario,
            String version,
            long seed,
            int tried,
            int hits,
            Findings findings,
            List<String> violations,
            long seconds) {
        return new Result(
                scenario.name(),
                scenario.backend(),
                scenario.fault(),
                scenario.expected(),
                version,
                LocalDate.now(ZoneOffset.UTC).toString(),
                seed,
                tried,
                hits,
                findings.grants(),
                findings.losses(),
                scenario.setup().limit(),
                findings.mostHolders(),
                millis(findings.overGrantNanos()),
                millis(findings.recoveryNanos()),
                scenario.setup().recovery().toMillis(),
                millis(findings.usuallyLateNanos()),
                millis(findings.lateNanos()),
                Math.round(findings.stalledShare() * 1_000) / 10.0,
                millis(findings.overtakenNanos()),
                seconds,
                millis(findings.overSpreadNanos()),
                millis(scenario.setup().over()),
                millis(findings.firstCallNanos()),
                millis(scenario.setup().firstCall()),
                millis(findings.firstOfHalfNanos()),
                millis(findings.firstOfMostNanos()),
                List.copyOf(violations),
                Origin.current());
    }

    private static double millis(@Nullable Duration bound) {
        return bound == null ? 0 : bound.toMillis();
    }

    private static double millis(long nanos) {
        return Math.round(nanos / 1e5) / 10.0;
    }

    /** What the history or the store showed to be wrong, apart from a run that was none. */
    public List<String> findings() {
        return violations.stream()
                .filter(violation -> !violation.startsWith(STUCK) && !violation.startsWith(VOID))
                .toList();
    }

    /** Whether everything was as it must be. */
    public boolean held() {
        return violations.isEmpty();
    }

    /** For people, one line and one more per violation. */
    public String asText() {
        StringBuilder text = new StringBuilder(
                "%-28s %-4s %d hits of %d, %d grants, %d losses, most %d of %d, over %.1f ms (%.0f ms from first to last), first call %.1f ms (of each key: median %.1f, 90 %% %.1f ms), recovery %.1f of %.0f ms, late %.1f, at most %.1f ms (machine stalled %.1f %%), overtaken %.1f ms, %d s, seed %d"
                        .formatted(
                                scenario,
                                held() ? "held" : "FAIL",
                                hits,
                                tried,
                                grants,
                                losses,
                                mostHolders,
                                limit,
                                overGrant,
                                overSpread,
                                firstCall,
                                firstHalf,
                                firstMost,
                                recovery,
                                bound,
                                usuallyLate,
                                late,
                                stalled,
                                overtaken,
                                seconds,
                                seed));
        violations.forEach(violation -> text.append("\n    ").append(violation));
        return text.toString();
    }
}
