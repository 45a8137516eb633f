package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.contract.DoubtfulBackendContract;
import io.github.distributedpermit.contract.StoreFixture;

class SlotsDoubtContractTest extends DoubtfulBackendContract {

    @Override
    protected StoreFixture openDoubtful() {
        return new DoubtfulConsulFixture(ConsulLayout.SLOTS);
    }
}
