package io.github.distributedpermit.test;

import io.github.distributedpermit.Permits;
import io.github.distributedpermit.test.PermitCall.Phase;
import io.github.distributedpermit.test.PermitLog.Held;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;

/**
 * Says what the application did with its permits since the test method began, in annotated methods and in code. It is for the
 * bean {@link Permits} of a test with {@link AutoConfigureDistributedPermit}.
 *
 * <pre>{@code
 * assertThat(permits).holdsAtMost(3).hasReleasedAll();
 * assertThat(permits).ofName("export").wasCalledWithKeys("tenant-1", "tenant-2");
 * }</pre>
 *
 * <p>A permit counts as held from the moment that its call has it until its call returns it. One that was lost meanwhile
 * counts too, since its call worked on.
 */
public final class PermitAssert extends AbstractAssert<PermitAssert, Permits> {

    private final String what;
    private final Predicate<Held> which;

    private PermitAssert(Permits actual, String what, Predicate<Held> which) {
        super(actual, PermitAssert.class);
        this.what = what;
        this.which = which;
    }

    /** Begins an assertion. */
    public static PermitAssert assertThat(Permits actual) {
        return new PermitAssert(actual, "", each -> true);
    }

    /** Looks at the calls of one permit name only. */
    public PermitAssert ofName(String name) {
        return narrowed(" of name '" + name + "'", each -> each.name().equals(name));
    }

    /** Looks at the calls of one key only. */
    public PermitAssert ofKey(String key) {
        return narrowed(" of key '" + key + "'", each -> each.key().equals(key));
    }

    private PermitAssert narrowed(String more, Predicate<Held> further) {
        return new PermitAssert(actual, what + more, which.and(further));
    }

    /** At no time were more than so many permits of one key held, now included. */
    public PermitAssert holdsAtMost(int permits) {
        Map<String, Integer> above = new TreeMap<>();
        log().highest().forEach((held, highest) -> {
            if (which.test(held) && highest > permits) {
                above.put(held.key(), highest);
            }
        });
        if (!above.isEmpty()) {
            failWithMessage(
                    "Expected at most %s permits%s to be held at the same time, but there were, by key: %s",
                    permits, what, above);
        }
        return this;
    }

    /** So many permits are held now, over all keys. */
    public PermitAssert holds(int permits) {
        List<PermitCall> held = calls(Phase.HELD);
        int sum = held.stream().mapToInt(call -> call.permits).sum();
        if (sum != permits) {
            failWithMessage("Expected %s permits%s to be held now, but %s are:%s", permits, what, sum, lines(held));
        }
        return this;
    }

    /** No permit is held any more: none has leaked. The message says where those were taken that are. */
    public PermitAssert hasReleasedAll() {
        List<PermitCall> held = calls(Phase.HELD);
        if (!held.isEmpty()) {
            failWithMessage("Expected all permits%s to be released, but these are held:%s", what, lines(held));
        }
        return this;
    }

    /** So many calls wait for a permit now. */
    public PermitAssert hasWaiting(int calls) {
        List<PermitCall> waiting =
                calls(Phase.WAITING).stream().filter(call -> call.waits).toList();
        if (waiting.size() != calls) {
            failWithMessage(
                    "Expected %s calls%s to wait now, but %s do:%s", calls, what, waiting.size(), lines(waiting));
        }
        return this;
    }

    /** So many calls were rejected: the limit was reached, the time-out passed, or another reason. */
    public PermitAssert hasRejected(int calls) {
        List<PermitCall> rejected =
                calls().stream().filter(call -> call.phase == Phase.REJECTED).toList();
        if (rejected.size() != calls) {
            failWithMessage(
                    "Expected %s calls%s to be rejected, but %s were:%s",
                    calls, what, rejected.size(), lines(rejected));
        }
        return this;
    }

    /** A permit of this key was asked for, and maybe others. */
    public PermitAssert wasCalledWithKey(String key) {
        if (calls().stream().noneMatch(call -> call.key.equals(key))) {
            failWithMessage("Expected a call%s with key '%s', but the calls were:%s", what, key, lines(calls()));
        }
        return this;
    }

    /** Permits of these keys were asked for, in any order, and of no others. A key that was used twice is given twice. */
    public PermitAssert wasCalledWithKeys(String... keys) {
        List<String> expected = Arrays.stream(keys).sorted().toList();
        List<String> found = calls().stream().map(call -> call.key).sorted().toList();
        if (!found.equals(expected)) {
            failWithMessage("Expected calls%s with the keys %s, but they had %s", what, expected, found);
        }
        return this;
    }

    /** Permits were asked for so often, with whatever outcome. */
    public PermitAssert wasCalledTimes(int times) {
        if (calls().size() != times) {
            failWithMessage("Expected %s calls%s, but there were %s:%s", times, what, calls().size(), lines(calls()));
        }
        return this;
    }

    /** No permit was asked for. */
    public PermitAssert wasNotCalled() {
        return wasCalledTimes(0);
    }

    private List<PermitCall> calls() {
        return log().calls(call -> !call.earlier && which.test(Held.by(call)));
    }

    private List<PermitCall> calls(Phase phase) {
        return log().calls(call -> call.phase == phase && which.test(Held.by(call)));
    }

    private static String lines(List<PermitCall> calls) {
        return calls.isEmpty()
                ? " none"
                : calls.stream().map(call -> "\n  " + call).collect(Collectors.joining());
    }

    private PermitLog log() {
        isNotNull();
        if (actual instanceof RecordingPermits recording) {
            return recording.log();
        }
        throw new IllegalArgumentException(
                "These Permits record no calls: %s. Put @AutoConfigureDistributedPermit on the test class, and inject Permits there"
                        .formatted(actual.getClass().getName()));
    }
}
