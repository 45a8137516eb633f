package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.endpoint.PermitAccess;
import io.github.distributedpermit.spi.CallView;
import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitGauges;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The engine as the endpoint sees it. Thread-safe.
 *
 * @param engine {@code null} if a test has put a mock of {@code Permits} in its place: then there are no permits
 * @param members makes the member that a mock of {@code Permits} does not have
 * @param backend the kind of store
 */
record EngineAccess(@Nullable PermitEngine engine, MemberFactory members, String backend) implements PermitAccess {

    @Override
    public Member member() {
        return engine == null ? members.get() : engine.member();
    }

    @Override
    public Collection<PermitDefinition> definitions() {
        return engine == null ? List.of() : engine.definitions();
    }

    @Override
    public boolean isLimitFromSettings(String name) {
        return engine != null && engine.isLimitFromSettings(name);
    }

    @Override
    public Optional<PermitGauges> gauges(String name) {
        return engine == null ? Optional.empty() : engine.gauges(name);
    }

    @Override
    public List<String> keysInUse(String name) {
        return engine == null ? List.of() : engine.keysInUse(name);
    }

    @Override
    public List<CallView> calls(String key, int most) {
        return engine == null ? List.of() : engine.calls(key, most);
    }

    @Override
    public CompletionStage<KeyState> inspect(String key) {
        return engine == null ? none() : engine.inspect(key);
    }

    @Override
    public CompletionStage<Void> override(String key, OptionalInt limit) {
        return engine == null ? none() : engine.override(key, limit);
    }

    @Override
    public CompletionStage<Integer> evict(String key, String from) {
        return engine == null ? none() : engine.evict(key, from);
    }

    @Override
    public void drain() {
        if (engine != null) {
            engine.drain();
        }
    }

    private static <T> CompletionStage<T> none() {
        return CompletableFuture.failedFuture(new IllegalStateException("A test has replaced the permits"));
    }
}
