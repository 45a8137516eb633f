package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.consulserver.SharedConsul;
import io.github.distributedpermit.contract.PermitBackendFaultContract;
import io.github.distributedpermit.contract.StoreFixture;
import org.junit.jupiter.api.Tag;

/** Found four permits of three held at a time, once. The backend is experimental until this passes always. */
@Tag("held-back")
class SlotsFaultContractTest extends PermitBackendFaultContract {

    @Override
    protected StoreFixture openPlain() {
        return new ConsulFixture(SharedConsul.get(), ConsulLayout.SLOTS);
    }
}
