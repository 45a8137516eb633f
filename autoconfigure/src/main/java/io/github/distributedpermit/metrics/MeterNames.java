package io.github.distributedpermit.metrics;

/** The names of all meters, which the page {@code docs/metrics.md} describes; a test compares the two. */
final class MeterNames {

    static final String HOLDERS = "distributed.permit.holders";
    static final String WITHOUT_STORE = "distributed.permit.holders.without.store";
    static final String WAITERS = "distributed.permit.waiters";
    static final String RUNNING_LOST = "distributed.permit.running.lost";
    static final String LIMIT = "distributed.permit.limit";
    static final String LONGEST_WAIT = "distributed.permit.wait.longest";
    static final String LONGEST_HOLD = "distributed.permit.hold.longest";
    static final String WAIT = "distributed.permit.wait";
    static final String HOLD = "distributed.permit.hold";
    static final String GRANTS = "distributed.permit.grants";
    static final String REJECTIONS = "distributed.permit.rejections";
    static final String FAILURES = "distributed.permit.failures";
    static final String LOSSES = "distributed.permit.losses";
    static final String FAIR_GROUPS = "distributed.permit.fair.groups";
    static final String OVERTAKES = "distributed.permit.head.start.overtakes";
    static final String CLAIM = "distributed.permit.claim";
    static final String STORE_UP = "distributed.permit.store.up";
    static final String STORE_BYPASSED = "distributed.permit.store.bypassed";
    static final String STORE_SILENCE = "distributed.permit.store.silence";
    static final String STORE_BACKLOG = "distributed.permit.store.backlog";
    static final String KEYS = "distributed.permit.keys";
    static final String GRACE = "distributed.permit.keys.grace";

    static final String FLEET_HOLDERS = "distributed.permit.fleet.holders";
    static final String FLEET_WAITERS = "distributed.permit.fleet.waiters";
    static final String FLEET_MEMBERS = "distributed.permit.fleet.members";
    static final String FLEET_LIMIT = "distributed.permit.fleet.limit";
    static final String FLEET_LIMITS_MIXED = "distributed.permit.fleet.limits.mixed";
    static final String FLEET_KEYS = "distributed.permit.fleet.keys";

    private MeterNames() {}
}
