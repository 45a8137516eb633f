package io.github.distributedpermit.metrics;

import io.github.distributedpermit.PermitRejectedException.Reason;
import io.github.distributedpermit.metrics.NameMeters.WaitOutcome;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitGauges;
import io.github.distributedpermit.spi.PermitGauges.LongestCall;
import io.github.distributedpermit.spi.PermitObserver;
import io.github.distributedpermit.spi.StoreGauges;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
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
        this.answered = claim("answered");
        this.failed = claim("failed");
    }

    private Timer claim(String outcome) {
        return Timer.builder(MeterNames.CLAIM)
                .description("Claims that this instance sent to the store, until they were answered or failed")
                .tag("outcome", outcome)
                .register(registry);
    }

    @Override
    public void joined(StoreGauges gauges) {
        Tags tags = Tags.of("backend", gauges.backend());
        Gauge.builder(MeterNames.STORE_UP, gauges, store -> store.isAnswering() ? 1 : 0)
                .description("Whether the store answers claims: 1, or 0 during an outage")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.STORE_BYPASSED, gauges, store -> store.isBypassed() ? 1 : 0)
                .description("Whether calls run without the store, as onStoreFailure of their permits allows: 1, or 0")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        TimeGauge.builder(
                        MeterNames.STORE_SILENCE,
                        gauges,
                        TimeUnit.SECONDS,
                        store -> store.sinceAnswer()
                                .map(MicrometerPermitObserver::seconds)
                                .orElse(Double.NaN))
                .description("Time since the store last answered a claim; it grows while nothing is claimed")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.STORE_BACKLOG, gauges, StoreGauges::unanswered)
                .description("Claims that have no answer yet")
                .baseUnit("claims")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.KEYS, gauges, StoreGauges::keys)
                .description("Keys that this instance uses")
                .baseUnit("keys")
                .tags(tags)
                .strongReference(true)
                .register(registry);
        Gauge.builder(MeterNames.GRACE, gauges, StoreGauges::inGrace)
                .description("Keys that get no new permits for up to a lease, because the store may have lost state")
                .baseUnit("keys")
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    @Override
    public void named(PermitGauges gauges) {
        Tags tags = tags(gauges.name());
        gauge(
                gauges,
                tags,
                MeterNames.HOLDERS,
                "Permits that calls of this instance hold",
                "permits",
                g -> g.holders());
        gauge(
                gauges,
                tags,
                MeterNames.WITHOUT_STORE,
                "Permits that calls of this instance got during an outage, and that the store has not recorded",
                "permits",
                g -> g.withoutStore());
        gauge(gauges, tags, MeterNames.WAITERS, "Calls of this instance that wait", "calls", g -> g.waiters());
        gauge(
                gauges,
                tags,
                MeterNames.RUNNING_LOST,
                "Calls of this instance that run although their permits were lost",
                "calls",
                g -> g.runningLost());
        gauge(
                gauges,
                tags,
                MeterNames.FAIR_GROUPS,
                "Groups of which calls of this instance wait",
                "groups",
                g -> g.fairGroups());
        gauge(gauges, tags, MeterNames.LIMIT, "The limit of a key over all instances", "permits", g -> g.limit());
        age(
                gauges,
                tags,
                MeterNames.LONGEST_WAIT,
                "How long the call waits that has been waiting for the longest",
                g -> seconds(g.longestWait()));
        age(
                gauges,
                tags,
                MeterNames.LONGEST_HOLD,
                "How long the call holds its permit that has held it for the longest",
                g -> seconds(g.longestHold()));
        of(gauges.name());
        if (fleet != null) {
            fleet(fleet, gauges, tags);
        }
    }

    private void fleet(FleetView view, PermitGauges gauges, Tags tags) {
        String name = gauges.name();
        String keysInUse = "of the keys that this instance uses, as the store has it for all instances";
        gauge(
                gauges,
                tags,
                MeterNames.FLEET_HOLDERS,
                "Permits in use " + keysInUse,
                "permits",
                g -> view.value(name, FleetTotals::holders));
        gauge(
                gauges,
                tags,
                MeterNames.FLEET_WAITERS,
                "Calls that wait " + keysInUse,
                "calls",
                g -> view.value(name, FleetTotals::waiters));
        gauge(
                gauges,
                tags,
                MeterNames.FLEET_MEMBERS,
                "Instances that hold or wait, for each key once, " + keysInUse,
                "members",
                g -> view.value(name, FleetTotals::members));
        gauge(
                gauges,
                tags,
                MeterNames.FLEET_LIMIT,
                "The limits in force " + keysInUse,
                "permits",
                g -> view.value(name, FleetTotals::limit));
        gauge(
                gauges,
                tags,
                MeterNames.FLEET_LIMITS_MIXED,
                "Keys for which instances state different limits, of those that this instance uses",
                "keys",
                g -> view.value(name, FleetTotals::mixed));
        keys(view, gauges, tags, "inspected", FleetTotals::inspected);
        keys(view, gauges, tags, "skipped", FleetTotals::skipped);
        keys(view, gauges, tags, "full", FleetTotals::full);
        keys(view, gauges, tags, "paused", FleetTotals::paused);
    }

    private void keys(
            FleetView view, PermitGauges gauges, Tags tags, String state, ToDoubleFunction<FleetTotals> number) {
        gauge(
                gauges,
                tags.and("state", state),
                MeterNames.FLEET_KEYS,
                "Keys in use whose state in the store is inspected or skipped, and those of the inspected ones that are full or paused",
                "keys",
                g -> view.keys(gauges.name(), number));
    }

    private void gauge(
            PermitGauges gauges,
            Tags tags,
            String name,
            String description,
            String unit,
            ToDoubleFunction<PermitGauges> value) {
        Gauge.builder(name, gauges, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    private void age(
            PermitGauges gauges, Tags tags, String name, String description, ToDoubleFunction<PermitGauges> seconds) {
        TimeGauge.builder(name, gauges, TimeUnit.SECONDS, seconds)
                .description(description)
                .tags(tags)
                .strongReference(true)
                .register(registry);
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
