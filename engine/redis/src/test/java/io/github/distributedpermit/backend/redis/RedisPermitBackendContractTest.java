package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.contract.ExpiryLaws;
import io.github.distributedpermit.contract.LeasedBackendContract;
import io.github.distributedpermit.contract.OperatorLaws;
import io.github.distributedpermit.contract.StoreFixture;
import io.github.distributedpermit.testsupport.RedisExtension;
import io.github.distributedpermit.testsupport.RedisServer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

@ExtendWith(RedisExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisPermitBackendContractTest extends LeasedBackendContract implements OperatorLaws, ExpiryLaws {

    final RedisServer server;
    private final LettuceConnectionFactory factory;
    private final RedisEye eye;

    RedisPermitBackendContractTest(RedisServer server) {
        this.server = server;
        factory = server.connectionFactory();
        eye = new RedisEye(server);
    }

    @Override
    protected StoreFixture open() {
        return fixture(UnaryOperator.identity());
    }

    /** A fixture whose members have these settings as well. */
    StoreFixture fixture(UnaryOperator<RedisSettings> settings) {
        return new RedisFixture(factory, eye, grace(), settings);
    }

    /** Whether members ask for a grace after a loss of state, as they do by default. */
    boolean grace() {
        return true;
    }

    @AfterAll
    void disconnect() {
        eye.close();
        factory.destroy();
    }
}
