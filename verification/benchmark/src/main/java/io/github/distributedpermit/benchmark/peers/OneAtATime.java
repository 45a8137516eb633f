package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.util.concurrent.locks.ReentrantLock;

/** Another contender whose calls go to the store one after the other, so that nothing travels together. Thread-safe. */
public final class OneAtATime implements Contender {

    private final Contender contender;
    private final ReentrantLock lock = new ReentrantLock();

    /** Slows it down. Its release has to wait for the store, and there has to be a permit for each call. */
    public OneAtATime(Contender contender) {
        this.contender = contender;
    }

    @Override
    public Gate gate(String key, int limit) throws Exception {
        Gate gate = contender.gate(key, limit);
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                lock.lock();
                try {
                    return gate.enter();
                } finally {
                    lock.unlock();
                }
            }

            @Override
            public void leave(Object pass) throws Exception {
                lock.lock();
                try {
                    gate.leave(pass);
                } finally {
                    lock.unlock();
                }
            }
        };
    }

    @Override
    public void close() throws Exception {
        contender.close();
    }
}
