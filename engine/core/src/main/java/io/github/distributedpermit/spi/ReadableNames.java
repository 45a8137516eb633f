package io.github.distributedpermit.spi;

import io.github.distributedpermit.spi.KeyState.MemberState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The readable names of a store's members, for operators: reads them, remembers them, and puts them into a {@link KeyState}.
 * Names are no part of the protocol, so a name that can't be read in time is left out and fails nothing. Thread-safe; each
 * backend whose store has names uses one instance per member.
 */
public final class ReadableNames {

    /** A member never changes its name, so that each name is read once. */
    private static final int MOST_KNOWN = 10_000;

    /** Names read for one inspection; the next one goes on with the others. */
    private static final int MOST_READ = 200;

    /** How long an inspection waits for names: they may be on a server that is down while the key itself can be read. */
    private static final long MOST_MILLIS = 500;

    private final ConcurrentMap<String, String> known = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();
    private final Function<String, CompletionStage<Optional<String>>> reader;

    /** @param reader reads the name of a member, by its id in the records; empty if the store has none */
    public ReadableNames(Function<String, CompletionStage<Optional<String>>> reader) {
        this.reader = reader;
    }

    /**
     * The state with the names that could be read. The stage never fails.
     *
     * @param processes turns the id of a member in the records into the id that operators see
     */
    public CompletionStage<KeyState> addTo(KeyState state, UnaryOperator<String> processes) {
        CompletableFuture<?>[] readings = state.members().stream()
                .map(MemberState::member)
                .filter(member -> !known.containsKey(member))
                .limit(MOST_READ)
                .map(this::read)
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(readings)
                .orTimeout(MOST_MILLIS, TimeUnit.MILLISECONDS)
                .handle((done, failure) -> named(state, processes));
    }

    /** The name of one member; empty if it could not be read. The stage never fails. */
    public CompletionStage<Optional<String>> of(String member) {
        CompletableFuture<?> reading = known.containsKey(member) ? CompletableFuture.allOf() : read(member);
        return reading.copy()
                .orTimeout(MOST_MILLIS, TimeUnit.MILLISECONDS)
                .handle((done, failure) -> Optional.ofNullable(known.get(member)));
    }

    /** Inspections at the same time share the reading of a name: each is a request to the store, behind which claims may have to wait. */
    private CompletableFuture<Void> read(String member) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        CompletableFuture<Void> before = underWay.putIfAbsent(member, done);
        if (before != null) {
            return before;
        }
        request(member)
                .thenAccept(name -> name.ifPresent(found -> remember(member, found)))
                .whenComplete((nothing, failure) -> {
                    underWay.remove(member, done);
                    done.complete(null);
                });
        return done;
    }

    private CompletionStage<Optional<String>> request(String member) {
        try {
            return reader.apply(member);
        } catch (RuntimeException | Error e) { // otherwise no later inspection would read the name
            return CompletableFuture.failedFuture(e);
        }
    }

    private void remember(String member, String name) {
        if (known.size() >= MOST_KNOWN) {
            known.clear(); // members come and go for as long as this process lives; those still alive are read again
        }
        known.put(member, name);
    }

    private KeyState named(KeyState state, UnaryOperator<String> processes) {
        List<MemberState> members = state.members().stream()
                .map(m -> m.named(processes.apply(m.member()), Optional.ofNullable(known.get(m.member()))))
                .toList();
        return new KeyState(state.key(), state.used(), state.override(), members, state.time());
    }
}
