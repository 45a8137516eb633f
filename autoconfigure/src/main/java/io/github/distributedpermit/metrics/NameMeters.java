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

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<WaitOutcome, Timer> waits;
    private final Map<Via, Counter> grants;
    private final Map<Reason, Counter> rejections;
    final Timer hold;
    final Counter failures;
    final Counter losses;
    final Counter taken;
    final Counter overtakes;

    NameMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        waits = byValue(
                WaitOutcome.class,
                outcome -> Timer.builder(MeterNames.WAIT)
                        .description("How long calls waited, also those that got no permit")
                        .tags(tags.and("outcome", text(outcome)))
                        .register(registry));
        grants = byValue(
                Via.class,
                via -> counter(MeterNames.GRANTS, "Permits that calls got", "permits", tags.and("via", text(via))));
        rejections = byValue(
                Reason.class,
                reason -> counter(
                        MeterNames.REJECTIONS,
                        "Calls that got no permit although the store answered",
                        "calls",
                        tags.and("reason", text(reason))));
        hold = Timer.builder(MeterNames.HOLD)
                .description("How long calls held their permits")
                .tags(tags)
                .register(registry);
        failures = counter(MeterNames.FAILURES, "Calls that ended because the store failed", "calls", tags);
        losses = losses("lost");
        taken = losses("taken");
        overtakes = counter(
                MeterNames.OVERTAKES, "Waiting calls that calls with a head start were queued before", "calls", tags);
    }

    private Counter losses(String cause) {
        return counter(MeterNames.LOSSES, "Permits lost while a call held them", "permits", tags.and("cause", cause));
    }

    private Counter counter(String name, String description, String unit, Tags all) {
        return Counter.builder(name)
                .description(description)
                .baseUnit(unit)
                .tags(all)
                .register(registry);
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
