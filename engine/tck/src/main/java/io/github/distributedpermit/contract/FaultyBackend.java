package io.github.distributedpermit.contract;

import io.github.distributedpermit.contract.Fault.Kind;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;

/** A backend behind a bad network. */
final class FaultyBackend implements PermitBackend {

    private final PermitBackend backend;
    private final FaultyNetwork network;

    FaultyBackend(PermitBackend backend, FaultyNetwork network) {
        this.backend = backend;
        this.network = network;
    }

    @Override
    public String name() {
        return backend.name();
    }

    @Override
    public PermitStore join(Member member, HoldingListener listener) {
        return new FaultyStore(
                member.id(), listener, backend.join(member, new FaultyListener(member.id(), listener)), network);
    }

    private final class FaultyListener implements HoldingListener {

        private final String route;
        private final HoldingListener listener;

        FaultyListener(String route, HoldingListener listener) {
            this.route = route;
            this.listener = listener;
        }

        @Override
        public void granted(String key, Holding holding) {
            send(() -> listener.granted(key, holding));
        }

        @Override
        public void changed(String key) {
            send(() -> listener.changed(key));
        }

        private void send(Runnable notice) {
            network.send(Kind.NOTICE, route, notice, notice);
        }

        @Override
        public void alive(long sentAtNanos) {
            listener.alive(sentAtNanos);
        }

        @Override
        public void lost() {
            listener.lost();
        }
    }
}
