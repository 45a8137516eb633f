package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.testsupport.RedisServer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The base of tests with a server: everything that a test opens is closed after it. */
abstract class RedisTest {

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final String key = "key-" + UUID.randomUUID();

    /** A key that no other test uses. */
    String key() {
        return key;
    }

    <T extends AutoCloseable> T open(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    LettuceConnectionFactory factory(RedisServer server) {
        return opened(server.connectionFactory());
    }

    LettuceConnectionFactory opened(LettuceConnectionFactory factory) {
        opened.push(factory::destroy);
        return factory;
    }

    TestMember member(LettuceConnectionFactory factory) {
        return open(new TestMember(factory));
    }

    TestMember memberWithoutGrace(LettuceConnectionFactory factory) {
        return open(new TestMember(factory, TestMember.WITHOUT_GRACE));
    }

    /** Connected already, so that its first claim does not take longer than the others. */
    TestMember impatientMember(LettuceConnectionFactory factory) {
        TestMember member = open(new TestMember(factory, TestMember.IMPATIENT));
        RedisFaultTest.awaitWorking(member);
        return member;
    }

    RedisEye eye(RedisServer server) {
        return open(new RedisEye(server));
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
