package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.contract.KeySnapshot;
import io.github.distributedpermit.contract.KeySnapshot.Row;
import io.github.distributedpermit.contract.StoreFixture;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.PermitBackend;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A prefix on a real server for each contract test. The clock is that of the server, so tests wait for it. */
final class RedisFixture implements StoreFixture {

    private static final Duration TOMBSTONE = Duration.ofSeconds(30);
    private static final Duration LONGEST_IDLE_LIFE = TOMBSTONE.multipliedBy(3).plusSeconds(5);

    private final String prefix = "contract-" + UUID.randomUUID();
    private final RedisEye eye;
    private final PermitBackend backend;

    RedisFixture(LettuceConnectionFactory factory, RedisEye eye) {
        this(factory, eye, true, UnaryOperator.identity());
    }

    RedisFixture(LettuceConnectionFactory factory, RedisEye eye, boolean grace, UnaryOperator<RedisSettings> further) {
        this.eye = eye;
        RedisSettings plain =
                new RedisSettings(prefix, TOMBSTONE, Duration.ofSeconds(5), Duration.ofSeconds(20)).withoutGrace();
        RedisSettings settings = grace ? plain.withGrace(Duration.ZERO) : plain;
        this.backend = new RedisPermitBackend(factory, further.apply(settings), System::nanoTime);
    }

    @Override
    public PermitBackend backend() {
        return backend;
    }

    @Override
    public Duration lease() {
        return Duration.ofHours(1);
    }

    @Override
    public Duration shortLease() {
        return Duration.ofMillis(500);
    }

    @Override
    public void pass(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        for (long left = duration.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public KeySnapshot look(String key) {
        Map<String, byte[]> state = eye.state(prefix, key);
        byte[] override =
                eye.commands().get(prefix + ":{" + RedisKey.of(prefix, key).encoded() + "}:override");
        OverrideLimit limit = override == null ? OverrideLimit.empty() : OverrideLimit.parse(new String(override));
        byte[] header = state.get(Packed.HEADER);
        if (header == null) {
            return new KeySnapshot(0, limit, List.of());
        }
        List<Row> rows = state.entrySet().stream()
                .filter(Packed::isMember)
                .map(RedisFixture::row)
                .toList();
        return new KeySnapshot(Packed.Header.of(header).used(), limit, rows);
    }

    private static Row row(Map.Entry<String, byte[]> field) {
        Packed.Member m = Packed.Member.of(field.getValue());
        return new Row(field.getKey(), m.permits(), m.wanted(), m.limit(), m.waiting());
    }

    @Override
    public Collection<String> residue() {
        return eye.keys(prefix);
    }

    /** Checks that each idle key will expire, and then lets it expire at once instead of waiting for that. */
    @Override
    public void passIdleTime() {
        for (String key : residue()) {
            if (!key.endsWith(":override")) {
                assertThat(eye.commands().pttl(key)).as("life of %s", key).isBetween(1L, LONGEST_IDLE_LIFE.toMillis());
                eye.commands().pexpire(key, 1);
            }
        }
        await().until(() -> residue().stream().allMatch(key -> key.endsWith(":override")));
    }

    @Override
    public void close() {}
}
