package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The meters of one name, registered with zeroes so that rates and alerts work from the first event on. */
final class NameMeters {

    final Timer wait;
    final Timer hold;
    final Counter failures;
    final Counter losses;
    final Counter handOvers;
    private final Map<Reason, Counter> rejections = new EnumMap<>(Reason.class);

    NameMeters(MeterRegistry registry, String name) {
        wait = Timer.builder("distributed.permit.wait")
                .description("How long calls waited for the permit they got")
                .tag("name", name)
                .register(registry);
        hold = Timer.builder("distributed.permit.hold")
                .description("How long calls held their permit")
                .tag("name", name)
                .register(registry);
        for (Reason reason : Reason.values()) {
            rejections.put(
                    reason,
                    Counter.builder("distributed.permit.rejections")
                            .description("Calls that got no permit, by reason")
                            .baseUnit("calls")
                            .tag("name", name)
                            .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        failures = counter(registry, name, "failures", "Calls that ended because the store failed", "calls");
        losses = counter(registry, name, "losses", "Permits lost while a call held them", "permits");
        handOvers = counter(
                registry,
                name,
                "hand.overs",
                "Permits that passed to the next call of this instance without the store",
                "permits");
    }

    private static Counter counter(
            MeterRegistry registry, String name, String suffix, String description, String unit) {
        return Counter.builder("distributed.permit." + suffix)
                .description(description)
                .baseUnit(unit)
                .tag("name", name)
                .register(registry);
    }

    @SuppressWarnings("NullAway") // every reason is there
    Counter rejections(Reason reason) {
        return rejections.get(reason);
    }
}
