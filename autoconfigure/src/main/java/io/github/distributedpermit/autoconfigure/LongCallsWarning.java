package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.CallView.State;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntBiFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Warns of calls that wait for a permit, or hold one, for longer than a threshold: at most once a minute for each permit and
 * kind. Called by one thread at a time.
 */
final class LongCallsWarning {

    private static final Log log = LogFactory.getLog(LongCallsWarning.class);
    private static final Duration PAUSE = Duration.ofMinutes(1);
    private static final int LONGEST_TEXT = 100;
    /** Looked through for the one that is warned about. */
    private static final int MOST_CALLS = 2_000;

    private final Supplier<Collection<PermitGauges>> permits;
    private final BiFunction<String, Integer, List<CallView>> calls;
    private final ToIntBiFunction<String, String> limits;
    private final DistributedPermitProperties.Log thresholds;
    private final LongSupplier nanoTime;
    private final Map<String, Long> lastWarnings = new HashMap<>();

    /**
     * @param calls of a key, at most so many, each kind the oldest first
     * @param limits the limit in force for calls of a name, and of a key
     */
    LongCallsWarning(
            Supplier<Collection<PermitGauges>> permits,
            BiFunction<String, Integer, List<CallView>> calls,
            ToIntBiFunction<String, String> limits,
            DistributedPermitProperties.Log thresholds,
            LongSupplier nanoTime) {
        this.permits = permits;
        this.calls = calls;
        this.limits = limits;
        this.thresholds = thresholds;
        this.nanoTime = nanoTime;
    }

    /** How often to look: so that a warning is not much later than its threshold. */
    Duration pause() {
        Duration shortest =
                shorter(thresholds.longWait(), thresholds.longHold()).dividedBy(4);
        Duration least = Duration.ofMillis(100);
        Duration most = Duration.ofSeconds(15);
        return shortest.compareTo(least) < 0 ? least : shortest.compareTo(most) > 0 ? most : shortest;
    }

    private static Duration shorter(Duration one, Duration other) {
        return other.isZero() || (!one.isZero() && one.compareTo(other) < 0) ? one : other;
    }

    boolean isOn() {
        return !thresholds.longWait().isZero() || !thresholds.longHold().isZero();
    }

    /** Looks at all permits once. */
    void check() {
        for (PermitGauges permit : permits.get()) {
            permit.longestWait()
                    .filter(call -> isLong(call, thresholds.longWait()) && isDue("wait " + permit.name()))
                    .ifPresent(call -> warnOfWait(permit, call));
            permit.longestHold()
                    .filter(call -> isLong(call, thresholds.longHold()) && isDue("hold " + permit.name()))
                    .ifPresent(call -> warnOfHold(permit, call));
        }
    }

    private static boolean isLong(LongestCall call, Duration threshold) {
        return !threshold.isZero() && call.time().compareTo(threshold) >= 0;
    }

    private boolean isDue(String what) {
        long now = nanoTime.getAsLong();
        Long last = lastWarnings.get(what);
        if (last != null && now - last < PAUSE.toNanos()) {
            return false;
        }
        lastWarnings.put(what, now);
        return true;
    }

    private void warnOfWait(PermitGauges permit, LongestCall call) {
        Optional<CallView> oldest = oldest(call.key(), State.WAITING);
        // not that of the gauge, which is of the key that was answered last
        int limit = limits.applyAsInt(oldest.map(CallView::name).orElse(permit.name()), call.key());
        log.warn(
                ("A call%s has been waiting for permit '%s', key '%s', for %d s (distributed-permit.log.long-wait is %d s)."
                                + "%s %d call(s) of this instance wait, and calls of this instance hold %d permit(s); %s."
                                + " %s.")
                        .formatted(
                                caller(oldest),
                                safe(permit.name()),
                                safe(call.key()),
                                call.time().toSeconds(),
                                thresholds.longWait().toSeconds(),
                                call.inner() == null
                                        ? ""
                                        : " It holds a permit of '%s', which lies within this one."
                                                .formatted(safe(call.inner())),
                                permit.waiters(),
                                permit.holders(),
                                limit == PermitDefinition.PER_CALL
                                        ? "each call states its limit"
                                        : "the limit is " + limit,
                                limit == 0
                                        ? "An operator has paused it: the endpoint 'permits' shows who and why; lift the limit to end that"
                                        : "Raise the limit, shorten the work or the time-out, or look for calls that do not end"));
    }

    private void warnOfHold(PermitGauges permit, LongestCall call) {
        log.warn(
                ("A call%s has held permit '%s', key '%s', for %d s (distributed-permit.log.long-hold is %d s); %d call(s)"
                                + " of this instance wait. If its work can be shorter, or was forgotten, end it.")
                        .formatted(
                                caller(oldest(call.key(), State.HOLDING)),
                                safe(permit.name()),
                                safe(call.key()),
                                call.time().toSeconds(),
                                thresholds.longHold().toSeconds(),
                                permit.waiters()));
    }

    /** The longest call of a name is the oldest of its key. */
    private Optional<CallView> oldest(String key, State state) {
        return calls.apply(key, MOST_CALLS).stream()
                .filter(call -> call.is(state))
                .findFirst();
    }

    /** Who makes the call, if that is recorded. */
    private static String caller(Optional<CallView> oldest) {
        return oldest.flatMap(call -> call.caller()
                        .map(caller -> " of %s on thread '%s'%s"
                                .formatted(
                                        safe(caller.method().orElse("an unknown method")),
                                        safe(caller.threadName()),
                                        switch (call.place()) {
                                            case ON_THREAD -> "";
                                            case ELSEWHERE -> " (it is asynchronous: that thread went on)";
                                            case UNKNOWN -> " (which may do something else by now)";
                                        })))
                .orElse("");
    }

    /** Keys may come from requests: no line breaks that forge a log line, and no endless text. */
    private static String safe(String text) {
        String cut = text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) + "..." : text;
        return cut.replaceAll("[\\p{Cntrl}\\u2028\\u2029]", "?");
    }
}
