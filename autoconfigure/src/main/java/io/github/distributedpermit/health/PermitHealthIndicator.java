package io.github.distributedpermit.health;

import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.StoreGauges;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * UP while permits can be had and notifications of the store reach this instance. Each check asks the store anew, so it
 * recovers by itself.
 */
public final class PermitHealthIndicator implements HealthIndicator {

    private final HealthProbe probe;
    private final String backend;
    private final Supplier<Member> members;
    private final Supplier<Optional<String>> impairment;
    private final StoreGauges store;

    /**
     * Creates the indicator.
     *
     * @param probe asks the store
     * @param backend name of the backend
     * @param members this instance, which is another member after it was stopped and started
     * @param impairment why this instance can't do its part although the store answers, such as that it receives no
     *     notifications, or that claims are stuck; empty if all is well
     * @param store what claims have shown of the store, for details
     */
    public PermitHealthIndicator(
            HealthProbe probe,
            String backend,
            Supplier<Member> members,
            Supplier<Optional<String>> impairment,
            StoreGauges store) {
        this.store = store;
        this.probe = probe;
        this.backend = backend;
        this.members = members;
        this.impairment = impairment;
    }

    @Override
    public Health health() {
        String problem = Stream.concat(probe.outage().stream(), impairment.get().stream())
                .collect(Collectors.joining("; "));
        Health.Builder health = problem.isEmpty() ? Health.up() : Health.down().withDetail("error", problem);
        Member member = members.get();
        health.withDetail("backend", backend)
                .withDetail("member", member.name())
                .withDetail("memberId", member.id());
        describe(store, health);
        return health.build();
    }

    private static void describe(StoreGauges store, Health.Builder health) {
        if (!store.address().isEmpty()) {
            health.withDetail("address", store.address());
        }
        store.warning().ifPresent(warning -> health.withDetail("warning", "limits are not safe: " + warning));
        store.slow()
                .ifPresent(time -> health.withDetail(
                        "slow",
                        "answers of the last seconds took %d ms on average, so calls wait and permits are in use that much longer"
                                .formatted(time.toMillis())));
        store.sinceAnswer().ifPresent(time -> health.withDetail("millisSinceLastClaim", time.toMillis()));
        if (store.isBypassed()) {
            health.withDetail("bypassed", "calls run without the store, as onStoreFailure of their permits allows");
        }
        if (store.isDrained()) {
            health.withDetail("drained", "takes no more permits until it is restarted: each call is rejected");
        }
        health.withDetail("unansweredClaims", store.unanswered())
                .withDetail("keys", store.keys())
                .withDetail("keysInGrace", store.inGrace())
                .withDetail("lostPermits", store.lost());
    }
}
