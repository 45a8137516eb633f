package io.github.distributedpermit.contract;

/**
 * The random drivers behind a bad network and, beyond it, a store that at times fails a claim without saying whether it
 * has happened.
 */
public abstract class DoubtfulBackendContract extends OpenedStore implements FaultLaws {

    /** An empty store; doubtful only while it is {@linkplain StoreFixture#rough rough}. */
    protected abstract StoreFixture openDoubtful();

    @Override
    protected final StoreFixture open() {
        return new FaultyFixture(openDoubtful(), 1, new Fault.Counts());
    }
}
