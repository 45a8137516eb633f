package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Inspects keys in the store, a few at a time: the claims of calls use the same connections, and must not have to wait for an
 * operator's request with many keys. Thread-safe.
 */
final class KeyInspections {

    private static final int AT_ONCE = 8;

    private final PermitAccess permits;
    private final StoreAnswers answers;

    KeyInspections(PermitAccess permits, StoreAnswers answers) {
        this.permits = permits;
        this.answers = answers;
    }

    /**
     * What is known of a key.
     *
     * @param problem why the store has not said anything; {@code null} if it has
     * @param tookNanos how long it took
     */
    record Inspected(KeyState state, @Nullable String problem, long tookNanos) {

        static Inspected unknown(String key, String problem, long tookNanos) {
            return new Inspected(new KeyState(key, 0, OverrideLimit.empty(), List.of()), problem, tookNanos);
        }
    }

    /** Blocks until all keys are inspected, for two time-outs at most; keys that are not reached by then have a problem. */
    List<Inspected> of(List<String> keys) {
        long begin = System.nanoTime();
        List<CompletableFuture<Inspected>> all = new ArrayList<>();
        for (String key : keys) {
            if (all.size() >= AT_ONCE) {
                all.get(all.size() - AT_ONCE).join();
            }
            boolean inTime = System.nanoTime() - begin < answers.timeout().toNanos();
            all.add(inTime ? inspect(key) : CompletableFuture.completedFuture(tooLate(key)));
        }
        return all.stream().map(CompletableFuture::join).toList();
    }

    private CompletableFuture<Inspected> inspect(String key) {
        long begin = System.nanoTime();
        return answers.of(() -> permits.inspect(key)).handle((state, failure) -> {
            long took = System.nanoTime() - begin;
            return failure == null
                    ? new Inspected(state, null, took)
                    : Inspected.unknown(key, answers.problem(failure), took);
        });
    }

    private Inspected tooLate(String key) {
        return Inspected.unknown(
                key,
                "Not read, because the store took more than %d ms for the keys before"
                        .formatted(answers.timeout().toMillis()),
                0);
    }
}
