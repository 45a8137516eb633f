package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitObserver.Via;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** The meters of one name, registered with zeroes so that rates and alerts work from the first event on. */
final class NameMeters {

    /** How the wait of a call ended. */
    enum WaitOutcome {
        GRANTED,
        REJECTED,
        FAILED,
        ABANDONED
    }

    private final Map<WaitOutcome, Timer> waits;
    private final Map<Via, Counter> grants;
    private final Map<Reason, Counter> rejections;
    final Timer hold;
    final Counter failures;
    final Counter losses;
    final Counter taken;
    final Counter overtakes;

    NameMeters(MeterRegistry registry, Tags tags) {
        waits = byValue(WaitOutcome.class, each -> PermitMeter.WAIT.timer(registry, tags.and("outcome", text(each))));
        grants = byValue(Via.class, each -> PermitMeter.GRANTS.counter(registry, tags.and("via", text(each))));
        rejections =
                byValue(Reason.class, each -> PermitMeter.REJECTIONS.counter(registry, tags.and("reason", text(each))));
        hold = PermitMeter.HOLD.timer(registry, tags);
        failures = PermitMeter.FAILURES.counter(registry, tags);
        losses = PermitMeter.LOSSES.counter(registry, tags.and("cause", "lost"));
        taken = PermitMeter.LOSSES.counter(registry, tags.and("cause", "taken"));
        overtakes = PermitMeter.OVERTAKES.counter(registry, tags);
    }

    private static <E extends Enum<E>, M> Map<E, M> byValue(Class<E> type, Function<E, M> meter) {
        Map<E, M> meters = new EnumMap<>(type);
        for (E value : type.getEnumConstants()) {
            meters.put(value, meter.apply(value));
        }
        return meters;
    }

    private static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @SuppressWarnings("NullAway") // every outcome is there
    Timer wait(WaitOutcome outcome) {
        return waits.get(outcome);
    }

    @SuppressWarnings("NullAway") // every source is there
    Counter grants(Via via) {
        return grants.get(via);
    }

    @SuppressWarnings("NullAway") // every reason is there
    Counter rejections(Reason reason) {
        return rejections.get(reason);
    }
}
