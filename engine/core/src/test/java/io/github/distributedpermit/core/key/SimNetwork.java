package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Everything between the members and the store: each message is an event of its own. */
final class SimNetwork {

    /** In place of the sequence of the claim that is answered: a notification. */
    static final long PUSHED = -1;

    /** Receives every message; throws if it breaks an invariant. */
    interface Tap {
        default void sent(SimLink link, Claim claim) {}

        default void arrived(SimLink link, Claim claim, Holding answer) {}

        default void delivered(SimLink link, String key, Holding holding, long answers) {}

        default void failed(SimLink link, Claim claim, Throwable cause) {}
    }

    final Timeline time;
    final SimServer server;
    private final Map<String, SimLink> links = new LinkedHashMap<>();
    private final Map<String, SimProcess> processes = new HashMap<>();
    Weather weather = Weather.FAIR;
    Tap tap = new Tap() {};
    /** How a claim fails that {@link Weather#fails}. */
    Supplier<Throwable> failure = () -> PermitStoreException.passing("connection refused", null);

    SimNetwork(Timeline time, Supplier<SimTable> newTable) {
        this.time = time;
        this.server = new SimServer(time, newTable, this::push);
    }

    /** The backend as one process sees it. */
    PermitBackend backend(SimProcess process) {
        processes.put(process.id, process);
        return new PermitBackend() {
            @Override
            public String name() {
                return "simulated";
            }

            @Override
            public SimLink join(Member member, HoldingListener listener) {
                SimLink link = new SimLink(SimNetwork.this, member.id(), process, listener);
                links.put(member.id(), link);
                return link;
            }
        };
    }

    SimLink link(String member) {
        SimLink link = links.get(member);
        if (link == null) {
            throw new AssertionError("No member " + member);
        }
        return link;
    }

    private void push(String member, String key, Holding holding) {
        SimLink link = links.get(member);
        if (link != null) {
            link.push(key, holding);
        }
    }
}
