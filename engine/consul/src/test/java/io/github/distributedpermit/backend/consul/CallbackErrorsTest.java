package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.ConsulProbe;
import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import io.github.distributedpermit.spi.snapshot.StoreSession;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An Error thrown by what the event loop calls costs that call only: the session is created, renewed and watched. */
class CallbackErrorsTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final ConsulProbe probe = SharedConsul.get().probe();
    private final ConsulFront front = new ConsulFront(SharedConsul.get().address());
    private final Bench bench = new Bench(front.address(), probe);
    private final ConsulSettings settings = bench.settings(ConsulLayout.SLOTS, Bench.REQUEST_TIMEOUT);
    private final BrokenLayer layer = new BrokenLayer();
    private final List<ConsulSnapshotStore> stores = new ArrayList<>();

    @AfterEach
    void leave() {
        stores.forEach(ConsulSnapshotStore::close);
        bench.close();
        front.close();
    }

    private ConsulSnapshotStore open(LongSupplier ticker) {
        String id = UUID.randomUUID().toString();
        ConsulSnapshotStore store = new ConsulPermitBackend(settings, ticker).store(new Member(id, "test:" + id));
        stores.add(store);
        store.open(layer);
        return store;
    }

    @Test
    void sessionThatCouldNotBeRequestedIsRequestedAgain() {
        AtomicBoolean full = new AtomicBoolean(true);

        ConsulSnapshotStore store = open(() -> {
            if (isLoop() && full.getAndSet(false)) {
                throw new StackOverflowError("made by the test");
            }
            return System.nanoTime();
        });

        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));
        assertThat(full).isFalse();
        assertThat(store.inspect("any").toCompletableFuture()).succeedsWithin(SOON);
    }

    @Test
    void failureThatTheLayerCouldNotTakeInIsFollowedByTheNextAttempt() {
        layer.broken = "unavailable";
        front.answer("session/create", 500, "no leader");
        open(System::nanoTime);
        await().atMost(SOON).until(() -> layer.errors.get() >= 1);

        front.behave();

        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));
    }

    @Test
    void sessionWhoseConfirmationTheLayerCouldNotTakeInIsUsedAndWatched() {
        layer.broken = "alive";

        ConsulSnapshotStore store = open(System::nanoTime);

        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));
        assertThat(store.inspect("any").toCompletableFuture()).succeedsWithin(SOON);
        probe.destroySession(layer.ready.get(0).member());
        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(2));
    }

    @Test
    void renewalThatTheLayerCouldNotTakeInIsFollowedByTheNext() {
        open(System::nanoTime);
        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));

        layer.broken = "alive";

        await().atMost(SOON).until(() -> layer.errors.get() >= 2);
        assertThat(layer.losses).hasValue(0);
    }

    @Test
    void lossThatTheLayerCouldNotTakeInIsFollowedByTheNextSession() {
        layer.broken = "lost";
        open(System::nanoTime);
        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));

        probe.destroySession(layer.ready.get(0).member());

        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(2));
        assertThat(layer.errors).hasValue(1);
    }

    @Test
    void noticeThatCouldNotBePassedOnIsFollowedByTheNext() {
        ConsulSnapshotStore store = open(System::nanoTime);
        await().atMost(SOON).untilAsserted(() -> assertThat(layer.ready).hasSize(1));
        Session session = Objects.requireNonNull(store.membership().current());
        List<String> received = new CopyOnWriteArrayList<>();
        ConsulApi api = new ConsulApi(new ConsulHttp(HttpClient::newHttpClient, settings, store.loop()), settings);
        Inbox inbox = new Inbox(
                api,
                store.loop(),
                session,
                entry -> {
                    received.add(entry.key().substring(session.inboxes().length()));
                    throw new StackOverflowError("made by the test");
                },
                name -> {},
                () -> CompletableFuture.completedFuture(false));
        store.loop().execute(inbox::watch);

        for (String notice : List.of("first", "second")) {
            probe.put("kv/" + session.inboxes() + notice + "?acquire=" + session.id(), "{}");
            await().atMost(SOON).untilAsserted(() -> assertThat(received).contains(notice));
        }

        assertThat(received).containsExactly("first", "second");
        api.close();
    }

    private static boolean isLoop() {
        return Thread.currentThread().getName().equals("distributed-permit-consul");
    }

    /** Its stack is full whenever it receives the one event that is broken. */
    private static final class BrokenLayer implements StoreEvents {

        private final List<StoreSession> ready = new CopyOnWriteArrayList<>();
        private final AtomicInteger errors = new AtomicInteger();
        private final AtomicInteger losses = new AtomicInteger();
        private volatile String broken = "";

        private void received(String event) {
            if (event.equals(broken)) {
                errors.incrementAndGet();
                throw new StackOverflowError("made by the test");
            }
        }

        @Override
        public void ready(StoreSession session) {
            ready.add(session);
        }

        @Override
        public void unavailable(PermitStoreException reason) {
            received("unavailable");
        }

        @Override
        public void alive(long sentAtNanos) {
            received("alive");
        }

        @Override
        public void lost() {
            losses.incrementAndGet();
            received("lost");
        }

        @Override
        public void served(String key, Holding holding) {}

        @Override
        public void changed(String key) {}

        @Override
        public void outdated(String key) {}

        @Override
        public void reduced(String key, int left) {}

        @Override
        public void check(String key) {}

        @Override
        public void moved(long epoch) {}
    }
}
