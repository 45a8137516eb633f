package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.testsupport.RedisServer;

/** The contract for members that ask for no grace: their claims are shorter, and another part of the fast path runs. */
class RedisWithoutGraceContractTest extends RedisPermitBackendContractTest {

    RedisWithoutGraceContractTest(RedisServer server) {
        super(server);
    }

    @Override
    boolean grace() {
        return false;
    }
}
