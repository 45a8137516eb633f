package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.ConsulFront;
import io.github.distributedpermit.consulserver.SharedConsul;
import java.util.Random;

/** Before the server stands something that loses some transactions, and the answers to some. */
final class DoubtfulConsulFixture extends ConsulFixture {

    private static final double LOST = 0.06;

    private final ConsulFront front;

    DoubtfulConsulFixture(ConsulLayout layout) {
        this(new ConsulFront(SharedConsul.get().address()), layout);
    }

    private DoubtfulConsulFixture(ConsulFront front, ConsulLayout layout) {
        super(SharedConsul.get(), front.address(), layout);
        this.front = front;
    }

    @Override
    public void rough() {
        front.loseSome("/v1/txn", new Random(1), LOST);
    }

    @Override
    public void calm() {
        front.behave();
    }

    @Override
    public void close() {
        front.close();
    }
}
