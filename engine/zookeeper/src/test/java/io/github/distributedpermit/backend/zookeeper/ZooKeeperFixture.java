package io.github.distributedpermit.backend.zookeeper;

import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.contract.Fault;
import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.StoreFixture;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A subtree of its own on servers that several tests share; each member has a session of its own. */
final class ZooKeeperFixture implements StoreFixture {

    private static final Duration SESSION = Duration.ofSeconds(10);
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
    public Duration shortLease() {
        return Duration.ofSeconds(1);
    }

    /** The transactions refuse what is doubled or overtaken. */
    @Override
    public Set<Fault> faults() {
        return EnumSet.complementOf(EnumSet.of(Fault.CLAIM_DOUBLED, Fault.CLAIM_REORDERED));
    }

    @Override
    public int runs() {
        return 2;
    }

    @Override
    public void pass(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
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
