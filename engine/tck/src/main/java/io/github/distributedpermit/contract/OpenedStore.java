package io.github.distributedpermit.contract;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Gives each test an empty store, and inspects it from outside afterwards. */
abstract class OpenedStore implements ContractTests {

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
