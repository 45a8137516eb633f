package io.github.distributedpermit.backend.zookeeper;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.SessionStoreFixture;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;

/** A subtree of its own on servers that several tests share; each member has a session of its own. */
final class ZooKeeperFixture implements SessionStoreFixture {

    private static final Duration SESSION = Servers.LONG_SESSION;
    private static final Duration IDLE = Duration.ofMillis(20);
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final Clients clients;
    private final Observer observer;

    ZooKeeperFixture(String connectString) {
        String root = "/permits-" + COUNT.incrementAndGet();
        clients = new Clients(connectString, root, SESSION, IDLE);
        observer = new Observer(connectString, root);
    }

    @Override
    public PermitBackend backend() {
        return clients;
    }

    @Override
    public Duration lease() {
        return SESSION;
    }

    @Override
    public KeySnapshot look(String key) {
        return observer.look(key);
    }

    @Override
    public Collection<String> residue() {
        return observer.tree();
    }

    @Override
    public void passIdleTime() {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(10))
                .until(() -> observer.tree().stream().noneMatch(path -> path.contains("/m-")));
    }

    /** Its end closes the session, as the server does when it has received nothing of a process for long enough. */
    @Override
    public void die(PermitStore store) {
        clients.of(store).close();
    }

    @Override
    public void close() {
        clients.close();
        observer.close();
    }
}
