package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.KeyState;
import io.github.distributedpermit.spi.KeyState.MemberState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads the answer of the script {@code inspect.lua}. Stateless. */
final class Inspection {

    /** Behind the sum of permits, the operator's limit and the time. */
    private static final int FIRST_MEMBER = 3;

    private static final int PER_MEMBER = 8;

    private Inspection() {}

    static KeyState read(String key, List<Object> found) {
        int override = number(found.get(1));
        List<MemberState> members = new ArrayList<>();
        for (int i = FIRST_MEMBER; i < found.size(); i += PER_MEMBER) {
            members.add(member(found.subList(i, i + PER_MEMBER)));
        }
        return new KeyState(
                key, number(found.get(0)), override < 0 ? OptionalInt.empty() : OptionalInt.of(override), members);
    }

    /** The clock of the server, in microseconds. */
    static long time(List<Object> found) {
        return (Long) found.get(2);
    }

    private static MemberState member(List<Object> row) {
        return new MemberState(
                new String((byte[]) row.get(0), StandardCharsets.UTF_8),
                Optional.empty(),
                number(row.get(1)),
                number(row.get(2)),
                number(row.get(3)),
                number(row.get(4)) == 1,
                number(row.get(5)),
                micros(row.get(7)),
                micros(row.get(6)));
    }

    private static Optional<Duration> micros(Object value) {
        long micros = (Long) value;
        return micros < 0 ? Optional.empty() : Optional.of(Duration.of(micros, ChronoUnit.MICROS));
    }

    private static int number(Object value) {
        return ((Long) value).intValue();
    }
}
