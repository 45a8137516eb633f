package io.github.distributedpermit.contract;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * The laws of {@link io.github.distributedpermit.spi.PermitStore}, as every backend keeps them. After each test the
 * store is inspected from outside.
 */
public abstract class PermitBackendContract
        implements GrantLaws, LineLaws, LimitLaws, OverrideLaws, WeightLaws, KeyLaws {

    private @Nullable Harness harness;

    /** An empty store. */
    protected abstract StoreFixture open();

    @BeforeEach
    void openStore() {
        harness = new Harness(open());
    }

    @AfterEach
    void verifyInvariants() {
        try {
            harness().verify();
        } finally {
            harness().fixture().close();
        }
    }

    @Override
    public final Harness harness() {
        return Objects.requireNonNull(harness);
    }
}
