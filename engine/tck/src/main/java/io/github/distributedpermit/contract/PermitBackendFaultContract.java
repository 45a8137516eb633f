package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The contract once more, behind a network that loses, delays, doubles and reorders claims, answers and notices. A
 * member repeats what was not answered; every law holds as before. Random drivers come on top.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class PermitBackendFaultContract extends PermitBackendContract implements FaultLaws {

    private final Fault.Counts counts = new Fault.Counts();
    private long seed;

    /** An empty store, as it is. */
    protected abstract StoreFixture openPlain();

    @Override
    protected final StoreFixture open() {
        seed++;
        return new FaultyFixture(openPlain(), seed, counts);
    }

    /** It also makes sure that each kind of fault hits, alone if need be: another law that fails is repeated without it. */
    @Override
    @Test
    public void limitHoldsAndNothingLeaksWhateverTheNetworkDoes() {
        FaultLaws.super.limitHoldsAndNothingLeaksWhateverTheNetworkDoes();
        assertThat(counts.missing(harness().fixture().faults()))
                .as("faults that did not hit; those that did: %s", counts)
                .isEmpty();
    }
}
