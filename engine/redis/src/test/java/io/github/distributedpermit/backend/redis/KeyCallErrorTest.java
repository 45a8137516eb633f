package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.PermitStoreException;
import io.github.distributedpermit.testsupport.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.List;
import org.junit.jupiter.api.Test;

/** No component ends the call of an operator that is unanswered, so that an Error must not do without an answer. */
class KeyCallErrorTest extends RedisTest {

    @Test
    void callWhoseAnswerCannotBeReadFails() {
        RedisServer server = open(RedisServer.started());
        RedisClient client = open(server.client());
        SharedConnection connection = new SharedConnection(
                client.connect(ByteArrayCodec.INSTANCE),
                RedisURI.create("127.0.0.1", server.port()),
                new UnresponsiveNodes(System::nanoTime),
                0);
        RedisKey key = new RedisKeys("permits").keyOf(key());
        KeyCall<List<Object>, Integer> call =
                new KeyCall<>(Script.INSPECT.get(), ScriptOutputType.MULTI, key, null, answer -> {
                    throw new StackOverflowError("made by the test");
                });

        call.sendOver(connection);

        await().until(call::isDone);
        assertThat(call.handle((value, failure) -> failure).join())
                .isInstanceOf(PermitStoreException.class)
                .hasRootCauseInstanceOf(StackOverflowError.class);
    }
}
