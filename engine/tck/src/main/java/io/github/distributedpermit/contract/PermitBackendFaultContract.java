package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The contract once more, behind a network that loses, delays, doubles and reorders claims, answers and notices. A
 * member repeats what was not answered; every law holds as before. Random drivers come on top.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class PermitBackendFaultContract extends PermitBackendContract implements FaultLaws {

    private final Fault.Counts counts = new Fault.Counts();
    private final Set<Fault> expected = EnumSet.noneOf(Fault.class);
    private long seed;

    /** An empty store, as it is. */
    protected abstract StoreFixture openPlain();

    @Override
    protected final StoreFixture open() {
        StoreFixture plain = openPlain();
        expected.addAll(plain.faults());
        seed++;
        return new FaultyFixture(plain, seed, counts);
    }

    @AfterAll
    void eachKindOfFaultReallyHit() {
        assertThat(counts.missing(expected))
                .as("faults that did not hit; those that did: %s", counts)
                .isEmpty();
    }
}
