package io.github.distributedpermit.core.engine;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.core.call.NamedCalls;
import io.github.distributedpermit.core.key.PermitStats;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The calls of one name in the present membership, which may be another one than that of the call before. Thread-safe. */
final class MemberCalls implements NamedPermits {

    private final PermitStats stats;
    private final NamedCalls.Settled settled;
    private final Supplier<Membership> present;

    MemberCalls(PermitStats stats, NamedCalls.Settled settled, Supplier<Membership> present) {
        this.stats = stats;
        this.settled = settled;
        this.present = present;
    }

    private NamedCalls calls() {
        return present.get().calls(stats, settled);
    }

    @Override
    public String name() {
        return stats.name();
    }

    @Override
    public PermitRequest request(String key) {
        return calls().request(key);
    }

    @Override
    public Permit acquire(PermitRequest request) throws InterruptedException {
        return calls().acquire(request);
    }

    @Override
    public Permit acquireUninterruptibly(PermitRequest request) {
        return calls().acquireUninterruptibly(request);
    }

    @Override
    public CompletableFuture<Permit> acquireAsync(PermitRequest request) {
        return calls().acquireAsync(request);
    }

    @Override
    public PermitState state(String key) {
        return calls().state(key);
    }

    @Override
    public CompletableFuture<PermitState> stateAsync(String key) {
        return calls().stateAsync(key);
    }
}
