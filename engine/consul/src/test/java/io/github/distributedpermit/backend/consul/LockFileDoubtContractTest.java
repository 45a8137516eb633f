package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.contract.DoubtfulBackendContract;
import io.github.distributedpermit.contract.StoreFixture;
import org.junit.jupiter.api.Tag;

@Tag("slow")
class LockFileDoubtContractTest extends DoubtfulBackendContract {

    @Override
    protected StoreFixture openDoubtful() {
        return new DoubtfulConsulFixture(ConsulLayout.LOCK_FILE);
    }
}
