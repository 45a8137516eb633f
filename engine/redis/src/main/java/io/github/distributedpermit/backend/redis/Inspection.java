package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import io.github.distributedpermit.spi.OverrideLimit;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the answer of the script {@code inspect.lua}, which is a flat list: four values of the key, then eight of
 * each member. Stateless; {@link RedisPermitStore} uses it on a thread of Lettuce's.
 */
final class Inspection {

    /** Behind the sum of permits, the operator's limit, the time, and that limit with its terms. */
    private static final int FIRST_MEMBER = 4;

    /**
     * Id, permits, wanted, limit, whether it is queued, waiting calls, remaining lease and age of the oldest waiter.
     */
    private static final int PER_MEMBER = 8;

    private Inspection() {}

    /** An override below 0 stands for none. */
    static KeyState read(String key, List<Object> found) {
        int override = number(found.get(1));
        List<MemberState> members = new ArrayList<>();
        for (int i = FIRST_MEMBER; i < found.size(); i += PER_MEMBER) {
            members.add(member(found.subList(i, i + PER_MEMBER)));
        }
        return new KeyState(
                key,
                number(found.get(0)),
                override < 0 ? OverrideLimit.empty() : OverrideLimit.parse(text(found.get(3))),
                members,
                Optional.of(Instant.ofEpochMilli(time(found) / 1_000)));
    }

    /** The clock of the server, in microseconds. The order of an eviction carries a deadline on this clock. */
    static long time(List<Object> found) {
        return (Long) found.get(2);
    }

    /** The readable name is added later, from a key of its own. */
    private static MemberState member(List<Object> row) {
        return new MemberState(
                text(row.get(0)),
                Optional.empty(),
                number(row.get(1)),
                number(row.get(2)),
                number(row.get(3)),
                number(row.get(4)) == 1,
                number(row.get(5)),
                micros(row.get(7)),
                micros(row.get(6)));
    }

    /** A negative number stands for an absent one. */
    private static Optional<Duration> micros(Object value) {
        long micros = (Long) value;
        return micros < 0 ? Optional.empty() : Optional.of(Duration.of(micros, ChronoUnit.MICROS));
    }

    private static String text(Object value) {
        return new String((byte[]) value, StandardCharsets.UTF_8);
    }

    private static int number(Object value) {
        return ((Long) value).intValue();
    }
}
