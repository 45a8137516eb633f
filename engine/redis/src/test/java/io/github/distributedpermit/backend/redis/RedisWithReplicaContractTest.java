package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.contract.StoreFixture;
import io.github.distributedpermit.testsupport.RedisServer;
import org.junit.jupiter.api.AfterAll;

/** The contract for members whose claims count only when a replica has confirmed them. */
class RedisWithReplicaContractTest extends RedisPermitBackendContractTest {

    private final RedisServer replica;

    RedisWithReplicaContractTest() {
        super(ReplicaWaitTest.master());
        this.replica = ReplicaWaitTest.replicaOf(server);
    }

    @Override
    protected StoreFixture open() {
        return fixture(RedisSettings::withWaitForReplica);
    }

    @AfterAll
    void stopServers() {
        replica.close();
        server.close();
    }
}
