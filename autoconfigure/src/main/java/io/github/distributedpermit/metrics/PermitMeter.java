package io.github.distributedpermit.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** All meters, with what is registered with their names. The page {@code docs/metrics.md} describes them; a test compares the two. */
enum PermitMeter {
    HOLDERS("holders", "Permits that calls of this instance hold", "permits"),
    WITHOUT_STORE(
            "holders.without.store",
            "Permits that calls of this instance got during an outage, and that the store has not recorded",
            "permits"),
    WAITERS("waiters", "Calls of this instance that wait", "calls"),
    RUNNING_LOST("running.lost", "Calls of this instance that run although their permits were lost", "calls"),
    FAIR_GROUPS("fair.groups", "Groups of which calls of this instance wait", "groups"),
    LIMIT("limit", "The limit of a key over all instances", "permits"),
    LONGEST_WAIT("wait.longest", "How long the call waits that has been waiting for the longest"),
    LONGEST_HOLD("hold.longest", "How long the call holds its permit that has held it for the longest"),
    WAIT("wait", "How long calls waited, also those that got no permit"),
    HOLD("hold", "How long calls held their permits"),
    GRANTS("grants", "Permits that calls got", "permits"),
    REJECTIONS("rejections", "Calls that got no permit although the store answered", "calls"),
    FAILURES("failures", "Calls that ended because the store failed", "calls"),
    LOSSES("losses", "Permits lost while a call held them", "permits"),
    OVERTAKES("head.start.overtakes", "Waiting calls that calls with a head start were queued before", "calls"),
    CLAIM("claim", "Claims that this instance sent to the store, until they were answered or failed"),
    STORE_UP("store.up", "Whether the store answers claims: 1, or 0 during an outage"),
    STORE_BYPASSED(
            "store.bypassed",
            "Whether calls run without the store, as onStoreFailure of their permits allows: 1, or 0"),
    STORE_SILENCE("store.silence", "Time since the store last answered a claim; it grows while nothing is claimed"),
    STORE_BACKLOG("store.backlog", "Claims that have no answer yet", "claims"),
    KEYS("keys", "Keys that this instance uses", "keys"),
    GRACE(
            "keys.grace",
            "Keys that get no new permits for up to a lease, because the store may have lost state",
            "keys"),
    FLEET_HOLDERS("fleet.holders", "Permits in use " + PermitMeter.OF_KEYS_IN_USE, "permits"),
    FLEET_WAITERS("fleet.waiters", "Calls that wait " + PermitMeter.OF_KEYS_IN_USE, "calls"),
    FLEET_MEMBERS(
            "fleet.members",
            "Instances that hold or wait, for each key once, " + PermitMeter.OF_KEYS_IN_USE,
            "members"),
    FLEET_LIMIT("fleet.limit", "The limits in force " + PermitMeter.OF_KEYS_IN_USE, "permits"),
    FLEET_LIMITS_MIXED(
            "fleet.limits.mixed",
            "Keys for which instances state different limits, of those that this instance uses",
            "keys"),
    FLEET_KEYS(
            "fleet.keys",
            "Keys in use whose state in the store is inspected or skipped, and those of the inspected ones that are full or paused",
            "keys");

    private static final String OF_KEYS_IN_USE =
            "of the keys that this instance uses, as the store has it for all instances";

    private final String id;
    private final String description;
    private final @Nullable String unit;

    PermitMeter(String name, String description) {
        this(name, description, null);
    }

    PermitMeter(String name, String description, @Nullable String unit) {
        this.id = "distributed.permit." + name;
        this.description = description;
        this.unit = unit;
    }

    <T> void gauge(MeterRegistry registry, T of, Tags tags, ToDoubleFunction<T> value) {
        Gauge.builder(id, of, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    <T> void seconds(MeterRegistry registry, T of, Tags tags, ToDoubleFunction<T> seconds) {
        TimeGauge.builder(id, of, TimeUnit.SECONDS, seconds)
                .description(description)
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    Timer timer(MeterRegistry registry, Tags tags) {
        return Timer.builder(id).description(description).tags(tags).register(registry);
    }

    Counter counter(MeterRegistry registry, Tags tags) {
        return Counter.builder(id)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }
}
