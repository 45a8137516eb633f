package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.metrics.NameMeters.WaitOutcome;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.StoreGauges;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the meters {@code distributed.permit.*} of this instance. They are tagged with the permit's {@code name}, with what
 * {@link PermitTags} adds, and with one fixed set of values such as the {@code reason} of a rejection, never with a key. So
 * their number does not grow with keys. Thread-safe.
 */
public final class MicrometerPermitObserver implements PermitObserver {

    private static final Log log = LogFactory.getLog(MicrometerPermitObserver.class);

    private final MeterRegistry registry;
    private final PermitTags furtherTags;
    private final @Nullable FleetView fleet;
    private final Map<String, NameMeters> meters = new ConcurrentHashMap<>();
    private final Timer answered;
    private final Timer failed;

    /** Registers the meters of this instance with this registry, with no further tags. */
    public MicrometerPermitObserver(MeterRegistry registry) {
        this(registry, name -> Tags.empty(), null);
    }

    /**
     * Registers with this registry.
     *
     * @param fleet what the store has recorded for all instances; {@code null} for no meters of that
     */
    public MicrometerPermitObserver(MeterRegistry registry, PermitTags furtherTags, @Nullable FleetView fleet) {
        this.registry = registry;
        this.furtherTags = furtherTags;
        this.fleet = fleet;
        this.answered = PermitMeter.CLAIM.timer(registry, Tags.of("outcome", "answered"));
        this.failed = PermitMeter.CLAIM.timer(registry, Tags.of("outcome", "failed"));
    }

    @Override
    public void joined(StoreGauges gauges) {
        Tags tags = Tags.of("backend", gauges.backend());
        PermitMeter.STORE_UP.gauge(registry, gauges, tags, store -> store.isAnswering() ? 1 : 0);
        PermitMeter.STORE_BYPASSED.gauge(registry, gauges, tags, store -> store.isBypassed() ? 1 : 0);
        PermitMeter.STORE_SILENCE.seconds(
                registry,
                gauges,
                tags,
                store -> store.sinceAnswer()
                        .map(MicrometerPermitObserver::seconds)
                        .orElse(Double.NaN));
        PermitMeter.STORE_BACKLOG.gauge(registry, gauges, tags, StoreGauges::unanswered);
        PermitMeter.KEYS.gauge(registry, gauges, tags, StoreGauges::keys);
        PermitMeter.GRACE.gauge(registry, gauges, tags, StoreGauges::inGrace);
    }

    @Override
    public void named(PermitGauges gauges) {
        String name = gauges.name();
        Tags tags = tags(name);
        PermitMeter.HOLDERS.gauge(registry, gauges, tags, PermitGauges::holders);
        PermitMeter.WITHOUT_STORE.gauge(registry, gauges, tags, PermitGauges::withoutStore);
        PermitMeter.WAITERS.gauge(registry, gauges, tags, PermitGauges::waiters);
        PermitMeter.RUNNING_LOST.gauge(registry, gauges, tags, PermitGauges::runningLost);
        PermitMeter.FAIR_GROUPS.gauge(registry, gauges, tags, PermitGauges::fairGroups);
        PermitMeter.LIMIT.gauge(registry, gauges, tags, PermitGauges::limit);
        PermitMeter.LONGEST_WAIT.seconds(registry, gauges, tags, g -> seconds(g.longestWait()));
        PermitMeter.LONGEST_HOLD.seconds(registry, gauges, tags, g -> seconds(g.longestHold()));
        of(name);
        if (fleet != null) {
            fleet(PermitMeter.FLEET_HOLDERS, fleet, name, tags, FleetTotals::holders);
            fleet(PermitMeter.FLEET_WAITERS, fleet, name, tags, FleetTotals::waiters);
            fleet(PermitMeter.FLEET_MEMBERS, fleet, name, tags, FleetTotals::members);
            fleet(PermitMeter.FLEET_LIMIT, fleet, name, tags, FleetTotals::limit);
            fleet(PermitMeter.FLEET_LIMITS_MIXED, fleet, name, tags, FleetTotals::mixed);
            keys(fleet, name, tags.and("state", "inspected"), FleetTotals::inspected);
            keys(fleet, name, tags.and("state", "skipped"), FleetTotals::skipped);
            fleet(PermitMeter.FLEET_KEYS, fleet, name, tags.and("state", "full"), FleetTotals::full);
            keys(fleet, name, tags.and("state", "paused"), FleetTotals::knownPaused);
        }
    }

    private void fleet(PermitMeter meter, FleetView view, String name, Tags tags, ToDoubleFunction<FleetTotals> value) {
        meter.gauge(registry, view, tags, of -> of.value(name, value));
    }

    private void keys(FleetView view, String name, Tags tags, ToDoubleFunction<FleetTotals> number) {
        PermitMeter.FLEET_KEYS.gauge(registry, view, tags, of -> of.keys(name, number));
    }

    private static double seconds(Optional<LongestCall> call) {
        return call.map(longest -> seconds(longest.time())).orElse(0.0);
    }

    private static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }

    @Override
    public void acquired(PermitCall call, Via via, Duration waited) {
        waited(call, WaitOutcome.GRANTED, waited).grants(via).increment(call.permits());
    }

    @Override
    public void overtook(PermitCall call, int calls) {
        of(call.observedName()).overtakes.increment(calls);
    }

    @Override
    public void rejected(PermitCall call, Reason reason, Duration waited) {
        waited(call, WaitOutcome.REJECTED, waited).rejections(reason).increment();
    }

    @Override
    public void failed(PermitCall call, Throwable cause, Duration waited) {
        waited(call, WaitOutcome.FAILED, waited).failures.increment();
    }

    @Override
    public void abandoned(PermitCall call, Duration waited) {
        waited(call, WaitOutcome.ABANDONED, waited);
    }

    private NameMeters waited(PermitCall call, WaitOutcome outcome, Duration waited) {
        NameMeters of = of(call.observedName());
        of.wait(outcome).record(waited);
        return of;
    }

    @Override
    public void released(PermitCall call, Duration held) {
        of(call.observedName()).hold.record(held);
    }

    @Override
    public void lost(PermitCall call) {
        NameMeters of = of(call.observedName());
        (call.isTaken() ? of.taken : of.losses).increment(call.permits());
    }

    @Override
    public void claimed(boolean wasAnswered, Duration took) {
        (wasAnswered ? answered : failed).record(took);
    }

    private NameMeters of(String name) {
        NameMeters known = meters.get(name);
        return known != null ? known : meters.computeIfAbsent(name, each -> new NameMeters(registry, tags(each)));
    }

    private Tags tags(String name) {
        Tags own = Tags.of("name", name);
        try {
            return Tags.of(furtherTags.tags(name)).and(own);
        } catch (RuntimeException e) {
            log.warn("The further tags for the meters of permit '%s' cannot be read; it has none".formatted(name), e);
            return own;
        }
    }
}
