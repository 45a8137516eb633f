package io.github.distributedpermit.aop;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.PermitState;
import io.github.distributedpermit.Permits;
import java.util.concurrent.CompletableFuture;

/**
 * What code gets where there are to be no limits: every call has its permit at once, whatever others hold, and no store is
 * asked. A name needs no limit. Thread-safe.
 */
public final class UnlimitedPermits implements Permits {

    @Override
    public NamedPermits named(String name) {
        if (name == null || name.isBlank()) {
            throw new IllegalArgumentException("The name of a permit must be neither null nor blank");
        }
        return new Named(name);
    }

    private record Named(String name) implements NamedPermits {

        @Override
        public Permit acquire(PermitRequest request) {
            return new UnlimitedPermit(name, request.key(), request.permits());
        }

        @Override
        public Permit acquireUninterruptibly(PermitRequest request) {
            return acquire(request);
        }

        @Override
        public CompletableFuture<Permit> acquireAsync(PermitRequest request) {
            return CompletableFuture.completedFuture(acquire(request));
        }

        @Override
        public CompletableFuture<PermitState> stateAsync(String key) {
            PermitRequest.of(key); // refuses what would be refused with limits
            return CompletableFuture.completedFuture(new PermitState(PermitDefinition.MAX_LIMIT, 0, 0));
        }
    }
}
