package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.util.concurrent.Semaphore;

/** The fair semaphore of the JDK: the floor for one process. */
public final class JucContender implements Contender {

    @Override
    public Gate gate(String key, int limit) {
        Semaphore semaphore = new Semaphore(limit, true);
        return new Gate() {
            @Override
            public Object enter() throws InterruptedException {
                semaphore.acquire();
                return semaphore;
            }

            @Override
            public void leave(Object pass) {
                semaphore.release();
            }
        };
    }

    @Override
    public void close() {
        // nothing to close
    }
}
