package io.github.distributedpermit.core.member;

import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Duration;
import java.util.Optional;

/** How this process gets along with its store, read from its {@link KeyRegistry}. Thread-safe. */
public final class MemberStatus implements StoreGauges {

    private final KeyRegistry registry;
    private final PermitBackend backend;

    public MemberStatus(KeyRegistry registry, PermitBackend backend) {
        this.registry = registry;
        this.backend = backend;
    }

    @Override
    public String backend() {
        return backend.name();
    }

    @Override
    public String address() {
        return backend.address();
    }

    @Override
    public boolean isAnswering() {
        return !registry.contact().reported().isReported();
    }

    @Override
    public Optional<Duration> sinceAnswer() {
        long at = registry.contact().answeredAt();
        return at < 0 ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, registry.now() - at)));
    }

    @Override
    public boolean isBypassed() {
        return registry.isBypassed();
    }

    @Override
    public int unanswered() {
        return registry.survey().unanswered();
    }

    @Override
    public int keys() {
        return registry.size();
    }

    @Override
    public int inGrace() {
        return registry.survey().inGrace();
    }

    @Override
    public long lost() {
        return registry.lostPermits();
    }
}
