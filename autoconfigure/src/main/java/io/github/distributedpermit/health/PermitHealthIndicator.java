package io.github.distributedpermit.health;

import io.github.distributedpermit.spi.Member;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** UP while the store of permits answers. Each check asks anew, so it recovers by itself. */
public final class PermitHealthIndicator implements HealthIndicator {

    private final StoreProbe probe;
    private final String backend;
    private final Member member;

    /**
     * Creates the indicator.
     *
     * @param probe asks the store
     * @param backend name of the backend
     * @param member this instance
     */
    public PermitHealthIndicator(StoreProbe probe, String backend, Member member) {
        this.probe = probe;
        this.backend = backend;
        this.member = member;
    }

    @Override
    public Health health() {
        Health.Builder health = probe.problem()
                .map(problem -> Health.down().withDetail("error", problem))
                .orElseGet(Health::up);
        return health.withDetail("backend", backend)
                .withDetail("member", member.name())
                .withDetail("memberId", member.id())
                .build();
    }
}
