package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;

/** One write of a key and nothing else. It limits nothing. */
public final class ConsulFloor implements Contender {

    private static final Object PASS = new Object();

    private final ConsulHttp consul;

    /** An agent on the loopback interface. */
    public ConsulFloor(int port) {
        consul = new ConsulHttp(port);
    }

    @Override
    public Gate gate(String key, int limit) {
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                consul.put("kv/floor/key", "x");
                return PASS;
            }

            @Override
            public void leave(Object pass) {
                // one write is the whole unit
            }
        };
    }

    @Override
    public void close() {
        // nothing is kept
    }
}
