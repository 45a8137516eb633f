package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The fixture of a store, with a bad network in front of the store. */
final class FaultyFixture implements StoreFixture {

    private static final Duration LATE = Duration.ofMillis(4);
    private static final Duration PATIENCE = Duration.ofMillis(10);
    private static final Duration STEP = Duration.ofNanos(200_000);

    private final StoreFixture fixture;
    private final FaultyNetwork network;
    private final FaultyBackend backend;

    FaultyFixture(StoreFixture fixture, long seed, Fault.Counts counts) {
        this.fixture = fixture;
        this.network = new FaultyNetwork(fixture::nanoTime, seed, fixture.faults(), counts, LATE);
        this.backend = new FaultyBackend(fixture.backend(), network);
    }

    FaultyNetwork network() {
        return network;
    }

    @Override
    public PermitBackend backend() {
        return backend;
    }

    /** Waits a little, while the network delivers; then whoever asked has to ask again. */
    @Override
    public boolean arrives(CompletableFuture<?> answer) {
        long deadline = nanoTime() + PATIENCE.toNanos();
        network.pump();
        while (!answer.isDone() && nanoTime() < deadline) {
            fixture.pass(STEP);
            network.pump();
        }
        return answer.isDone();
    }

    @Override
    public boolean noticesArrive() {
        return false;
    }

    @Override
    public Set<Fault> faults() {
        return fixture.faults();
    }

    @Override
    public int runs() {
        return fixture.runs();
    }

    @Override
    public Duration lease() {
        return fixture.lease();
    }

    @Override
    public Duration shortLease() {
        return fixture.shortLease();
    }

    @Override
    public Duration latest() {
        return fixture.latest();
    }

    @Override
    public void pass(Duration duration) {
        network.flush();
        fixture.pass(duration);
    }

    /** Lets time pass while messages stay on their way. */
    void passUnderWay(Duration duration) {
        fixture.pass(duration);
        network.pump();
    }

    @Override
    public long nanoTime() {
        return fixture.nanoTime();
    }

    @Override
    public KeySnapshot look(String key) {
        return fixture.look(key);
    }

    @Override
    public Collection<String> residue() {
        return fixture.residue();
    }

    @Override
    public void passIdleTime() {
        network.flush();
        fixture.passIdleTime();
    }

    @Override
    public void die(PermitStore store) {
        network.flush();
        fixture.die(store instanceof FaultyStore faulty ? faulty.unwrapped() : store);
    }

    @Override
    public void calm() {
        fixture.calm();
        network.calm();
    }

    @Override
    public void rough() {
        fixture.rough();
        network.rough();
    }

    @Override
    public void close() {
        fixture.close();
    }
}
