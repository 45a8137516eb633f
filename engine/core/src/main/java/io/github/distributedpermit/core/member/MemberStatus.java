package io.github.distributedpermit.core.member;

import io.github.distributedpermit.core.key.Admission;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.StoreGauges;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** How this process gets along with its store, read from the {@link KeyRegistry} of its present membership. Thread-safe. */
public final class MemberStatus implements StoreGauges {

    private final Supplier<Optional<KeyRegistry>> registry;
    private final PermitBackend backend;

    /** @param registry empty before the process has joined the store */
    public MemberStatus(Supplier<Optional<KeyRegistry>> registry, PermitBackend backend) {
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
    public Optional<String> warning() {
        return registry.get().flatMap(KeyRegistry::warning);
    }

    @Override
    public boolean isAnswering() {
        return registry.get().map(present -> !present.watch().isReported()).orElse(true);
    }

    @Override
    public Optional<Duration> sinceAnswer() {
        return registry.get().flatMap(MemberStatus::sinceAnswer);
    }

    private static Optional<Duration> sinceAnswer(KeyRegistry present) {
        long at = present.watch().outage().answeredAt();
        return at < 0 ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, present.now() - at)));
    }

    @Override
    public Optional<Duration> slow() {
        return registry.get()
                .map(present -> present.watch().slow(present.now()))
                .filter(nanos -> nanos > 0)
                .map(Duration::ofNanos);
    }

    @Override
    public boolean isBypassed() {
        return registry.get().map(present -> present.watch().isBypassed()).orElse(false);
    }

    @Override
    public boolean isDrained() {
        return registry.get()
                .filter(present -> present.admission() == Admission.NONE)
                .isPresent();
    }

    @Override
    public int unanswered() {
        return registry.get().map(present -> present.survey().unanswered()).orElse(0);
    }

    @Override
    public int keys() {
        return registry.get().map(KeyRegistry::size).orElse(0);
    }

    @Override
    public int inGrace() {
        return registry.get().map(present -> present.survey().inGrace()).orElse(0);
    }

    @Override
    public Optional<Duration> graceLeft() {
        return registry.get().flatMap(KeyRegistry::graceLeft);
    }

    @Override
    public long lost() {
        return registry.get().map(KeyRegistry::lostPermits).orElse(0L);
    }
}
