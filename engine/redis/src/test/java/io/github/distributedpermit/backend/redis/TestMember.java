package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.PermitStoreException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A member whose claims a test makes one by one. Not thread-safe. */
final class TestMember implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(20);
    static final RedisSettings SETTINGS = settings(Duration.ofSeconds(20));

    /** For tests with a server that loses state, and of which that is not the point. */
    static final RedisSettings WITHOUT_GRACE = SETTINGS.withoutGrace();

    /** For tests in which a server or a connection does not respond and the member has to find that out. */
    static final RedisSettings IMPATIENT = settings(Duration.ofSeconds(4)).withoutGrace();

    private final String id = UUID.randomUUID().toString();
    private final Recorder recorder;
    private final PermitStore store;
    private Duration lease = Duration.ofMinutes(5);
    private long sequence;

    private static RedisSettings settings(Duration commandTimeout) {
        return new RedisSettings("permits", Duration.ofSeconds(30), Duration.ofMillis(100), commandTimeout)
                .withGrace(Duration.ZERO);
    }

    TestMember(LettuceConnectionFactory factory) {
        this(factory, SETTINGS);
    }

    TestMember(LettuceConnectionFactory factory, RedisSettings settings) {
        this(factory, settings, () -> {});
    }

    /** One with something to do, on the thread that looks after the connection, whenever the store becomes reachable. */
    TestMember(LettuceConnectionFactory factory, RedisSettings settings, Recorder.Task whenReachable) {
        recorder = new Recorder(whenReachable);
        store = new RedisPermitBackend(factory, settings, System::nanoTime).join(new Member(id, "test"), recorder);
    }

    String id() {
        return id;
    }

    PermitStore store() {
        return store;
    }

    TestMember lease(Duration length) {
        lease = length;
        return this;
    }

    Holding queue(String key, int limit, int wanted) {
        return answer(store.claim(next(key, limit, wanted, wanted, true)));
    }

    Holding attempt(String key, int limit, int wanted) {
        return answer(store.claim(next(key, limit, wanted, wanted, false)));
    }

    Holding keep(String key, int permits) {
        return answer(store.claim(next(key, 1, permits, permits, false)));
    }

    Claim next(String key, int limit, int held, int wanted, boolean queue) {
        return Claim.of(key, ++sequence, lease)
                .limit(limit)
                .wanted(wanted)
                .held(held)
                .queued(queue ? 1 : 0);
    }

    PermitStoreException failure(Claim claim) {
        try {
            Holding holding = store.claim(claim).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("answered " + holding);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PermitStoreException failure) {
                return failure;
            }
            throw new AssertionError(e);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until the member was notified that it holds so many. */
    void awaitGrant(String key, int permits) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(recorder.grants().get(key))
                        .isNotNull()
                        .extracting(Holding::permits)
                        .isEqualTo(permits));
    }

    Recorder recorder() {
        return recorder;
    }

    static <T> T answer(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PermitStoreException failure) {
                throw failure;
            }
            throw new AssertionError(e);
        } catch (Exception e) {
            throw new AssertionError("The store did not answer", e);
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
