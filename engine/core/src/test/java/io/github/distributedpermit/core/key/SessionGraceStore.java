package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.Commit;
import io.github.distributedpermit.spi.snapshot.PlannedCommit;
import io.github.distributedpermit.spi.snapshot.SnapshotStore;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A process' connection to the {@link SessionGraceServer}, whose messages take time and may be lost. Confined to one thread. */
final class SessionGraceStore implements SnapshotStore<SessionGraceServer.Seen> {

    private static final long COMMAND_TIMEOUT = 2 * SessionGraceSimulation.SECOND;

    private final SessionGraceSimulation world;
    private final SessionGraceServer server;
    private final SimProcess process;
    private final String id;
    private @Nullable StoreEvents events;
    private @Nullable StoreSession session;
    private long sessions;
    private long epoch;
    private long renewals;
    private long confirmed;
    private long renewedAt;

    SessionGraceStore(SessionGraceSimulation world, SessionGraceServer server, SimProcess process, String id) {
        this.world = world;
        this.server = server;
        this.process = process;
        this.id = id;
        server.connect(id, this);
    }

    private StoreEvents events() {
        StoreEvents layer = events;
        if (layer == null) {
            throw new AssertionError("not opened");
        }
        return layer;
    }

    /** A call of the server; fails after a while if the call or its answer is lost. */
    private <T> CompletableFuture<T> call(Supplier<T> operation) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        world.time.after(world.delay(), null, () -> {
            if (!server.isDown() && !world.loses()) {
                T result = operation.get();
                if (!world.loses()) {
                    world.time.after(world.delay(), process, () -> answer.complete(result));
                }
            }
        });
        world.time.after(
                COMMAND_TIMEOUT,
                process,
                () -> answer.completeExceptionally(PermitStoreException.passing("no answer", null)));
        return answer;
    }

    @Override
    public void open(StoreEvents layer) {
        events = layer;
        keepAlive();
    }

    private void keepAlive() {
        StoreSession current = session;
        long sentAt = process.clock();
        CompletableFuture<Void> done = current == null ? begin(sentAt) : renew(current, sentAt);
        done.whenComplete((nothing, failure) -> world.time.after(
                session == null ? SessionGraceSimulation.SECOND / 4 : SessionGraceServer.SESSION / 10,
                process,
                this::keepAlive));
    }

    private CompletableFuture<Void> begin(long sentAt) {
        StoreSession next = new StoreSession(id + "~" + ++sessions, sessions);
        return call(() -> server.begin(next.member())).thenAccept(at -> {
            epoch = at;
            renewals = 0;
            confirmed = 0;
            renewedAt = sentAt;
            session = next;
            events().alive(sentAt);
            events().ready(next);
        });
    }

    private CompletableFuture<Void> renew(StoreSession current, long sentAt) {
        long number = ++renewals;
        long valid = Math.max(0, SessionGraceServer.SESSION - (sentAt - renewedAt));
        return call(() -> server.renew(current.member(), epoch, number, confirmed, valid))
                .thenAccept(at -> {
                    if (at == 0) {
                        session = null;
                        world.trace(id + " has lost its session");
                        events().lost();
                        return;
                    }
                    confirmed = number;
                    if (at != epoch) {
                        world.trace(id + " enters epoch " + at);
                        epoch = at;
                        events().moved(at);
                        return;
                    }
                    renewedAt = sentAt;
                    events().alive(sentAt);
                });
    }

    @Override
    public Duration session() {
        return SessionGraceSimulation.SESSION;
    }

    @Override
    public CompletionStage<SessionGraceServer.Seen> read(String key) {
        return call(() -> {
                    SessionGraceServer.Seen seen = server.read(key);
                    return seen == null ? new Object() : seen;
                })
                .thenApply(seen -> {
                    if (seen instanceof SessionGraceServer.Seen found) {
                        return found;
                    }
                    throw PermitStoreException.passing("state was lost", null);
                });
    }

    @Override
    public CompletionStage<Commit<SessionGraceServer.Seen>> commit(PlannedCommit<SessionGraceServer.Seen> planned) {
        return call(() -> {
                    SessionGraceServer.Seen made =
                            server.commit(planned.key(), planned.member(), planned.before(), planned.after());
                    if (made == null) {
                        return (Commit<SessionGraceServer.Seen>) new Commit.Conflict<SessionGraceServer.Seen>();
                    }
                    planned.step()
                            .served()
                            .keySet()
                            .forEach(member -> world.notice(SessionGraceServer.process(member), planned.key()));
                    return new Commit.Done<>(made);
                })
                .exceptionally(e -> new Commit.OutcomeUnknown<>(PermitStoreException.passing("no answer", e)));
    }

    /** Another member has served this one. */
    void noticed(String key) {
        call(() -> {
                    SessionGraceServer.Seen seen = server.read(key);
                    return seen == null ? new Object() : seen;
                })
                .thenAccept(seen -> {
                    StoreSession current = session;
                    if (current != null && seen instanceof SessionGraceServer.Seen found) {
                        found.table()
                                .view(current.member(), found.version())
                                .ifPresent(holding -> events().served(key, holding));
                    }
                })
                .exceptionally(e -> null);
    }

    @Override
    public void close() {}
}
