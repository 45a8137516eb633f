package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitObserver;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;

/**
 * Keeps the meters {@code distributed.permit.*} of this instance. Their only tags are the permit's {@code name} and the
 * {@code reason} of a rejection, never a key, so their number does not grow with keys. Thread-safe.
 */
public final class MicrometerPermitObserver implements PermitObserver {

    private final MeterRegistry registry;
    private final Map<String, NameMeters> meters = new ConcurrentHashMap<>();

    /** Registers with this registry. */
    public MicrometerPermitObserver(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void named(PermitGauges gauges) {
        gauge(gauges, "holders", "Permits that calls of this instance hold", "permits", PermitGauges::holders);
        gauge(gauges, "waiters", "Calls of this instance that wait in the queue", "calls", PermitGauges::waiters);
        gauge(gauges, "limit", "Permits of a key over all instances", "permits", PermitGauges::limit);
        of(gauges.name());
    }

    private void gauge(
            PermitGauges gauges, String suffix, String description, String unit, ToDoubleFunction<PermitGauges> value) {
        Gauge.builder("distributed.permit." + suffix, gauges, value)
                .description(description)
                .baseUnit(unit)
                .tag("name", gauges.name())
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void acquired(String name, Duration waited) {
        of(name).wait.record(waited);
    }

    @Override
    public void rejected(String name, Reason reason, Duration waited) {
        of(name).rejections(reason).increment();
    }

    @Override
    public void failed(String name, Duration waited) {
        of(name).failures.increment();
    }

    @Override
    public void released(String name, Duration held) {
        of(name).hold.record(held);
    }

    @Override
    public void lost(String name, int permits) {
        of(name).losses.increment(permits);
    }

    @Override
    public void handedOver(String name, int permits) {
        of(name).handOvers.increment(permits);
    }

    private NameMeters of(String name) {
        NameMeters known = meters.get(name);
        return known != null ? known : meters.computeIfAbsent(name, each -> new NameMeters(registry, each));
    }
}
