package io.github.distributedpermit.test;

import io.github.distributedpermit.PermitRequest;
import java.util.Arrays;

/** One call for permits. What changes in it is written under the lock of the {@link PermitLog}. */
final class PermitCall {

    /** What became of it. */
    enum Phase {
        WAITING,
        HELD,
        JOINED,
        RELEASED,
        REJECTED,
        FAILED
    }

    /** Packages between the code that asked for the permit and this class. */
    private static final String[] BETWEEN = {
        "io.github.distributedpermit.test.Recording",
        "io.github.distributedpermit.test.PermitCall",
        "io.github.distributedpermit.test.PermitLog",
        "io.github.distributedpermit.aop.",
        "io.github.distributedpermit.Permits",
        "io.github.distributedpermit.NamedPermits",
        "org.springframework.",
        "java.",
        "jdk.",
        "reactor."
    };

    final String name;
    final String key;
    final int permits;
    final boolean waits;
    private final String place;
    volatile Phase phase = Phase.WAITING;

    /** Whether it began before the test method. */
    volatile boolean earlier;

    PermitCall(String name, PermitRequest request) {
        this.name = name;
        this.key = request.key();
        this.permits = request.permits();
        this.waits = request.block();
        this.place = place();
    }

    private static String place() {
        return Arrays.stream(new Throwable().getStackTrace())
                .filter(frame -> Arrays.stream(BETWEEN).noneMatch(frame.getClassName()::startsWith))
                .filter(frame -> !frame.getClassName().contains("$$"))
                .findFirst()
                .map(StackTraceElement::toString)
                .orElse("code without a frame of its own");
    }

    @Override
    public String toString() {
        return "%d of key '%s' (permit '%s', %s), taken by %s".formatted(permits, key, name, phase, place);
    }
}
