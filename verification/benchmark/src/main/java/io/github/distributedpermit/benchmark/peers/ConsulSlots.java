package io.github.distributedpermit.benchmark.peers;

import io.github.distributedpermit.benchmark.load.Contender;
import io.github.distributedpermit.benchmark.load.Gate;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One key for each permit, taken with {@code ?acquire=}: tries the slots one after the other from a random one, and when
 * all are taken waits with a blocking query until any of them changes. Sessions are kept for later calls.
 */
public final class ConsulSlots implements Contender {

    private final ConsulHttp consul;
    private final Queue<String> sessions = new ConcurrentLinkedQueue<>();

    /** An agent on the loopback interface. */
    public ConsulSlots(int port) {
        consul = new ConsulHttp(port);
    }

    @Override
    public Gate gate(String key, int limit) {
        String prefix = "kv/naive-slots/" + key.replace(' ', '-').replace(",", "") + "/";
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                String session = sessions.poll();
                if (session == null) {
                    session = consul.session();
                }
                String index = "0";
                while (true) {
                    int first = ThreadLocalRandom.current().nextInt(limit);
                    for (int i = 0; i < limit; i++) {
                        String slot = prefix + (first + i) % limit;
                        if (consul.put(slot + "?acquire=" + session, "").startsWith("true")) {
                            return new Slot(slot, session);
                        }
                    }
                    index = changed(prefix, index);
                }
            }

            @Override
            public void leave(Object pass) throws Exception {
                Slot slot = (Slot) pass;
                consul.put(slot.path() + "?release=" + slot.session(), "");
                sessions.add(slot.session());
            }
        };
    }

    private String changed(String prefix, String index) throws IOException, InterruptedException {
        HttpResponse<String> response = consul.get(prefix + "?recurse&wait=1s&index=" + index);
        return response.headers().firstValue("X-Consul-Index").orElse("0");
    }

    @Override
    public void close() throws Exception {
        for (String session = sessions.poll(); session != null; session = sessions.poll()) {
            consul.destroy(session);
        }
    }

    private record Slot(String path, String session) {}
}
