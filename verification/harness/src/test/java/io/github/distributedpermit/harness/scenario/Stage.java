package io.github.distributedpermit.harness.scenario;

import io.github.distributedpermit.harness.check.Circumstances;
import io.github.distributedpermit.harness.check.Span;
import io.github.distributedpermit.harness.fleet.Crew;
import io.github.distributedpermit.harness.fleet.MemberProcess;
import io.github.distributedpermit.harness.history.Call;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.Ending;
import io.github.distributedpermit.harness.history.EventLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** What a fault sees of its run: who takes part, what they do right now, and where it records what was done. */
public final class Stage {

    /** How long anything may take that should happen soon. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** How long members may take to find a server that can serve before the run is given up; what is too long is measured. */
    static final Duration LONG_PATIENCE = Duration.ofSeconds(90);

    private final Setup setup;
    private final Crew crew;
    private final Random random;
    private final Circumstances circumstances = new Circumstances();
    private final List<String> failures = new ArrayList<>();

    Stage(Setup setup, Crew crew, long seed) {
        this.setup = setup;
        this.crew = crew;
        this.random = new Random(seed);
    }

    Random random() {
        return random;
    }

    Setup setup() {
        return setup;
    }

    Crew crew() {
        return crew;
    }

    EventLog log() {
        return crew.log();
    }

    Circumstances circumstances() {
        return circumstances;
    }

    /** A random time from the first up to the second. */
    Duration between(Duration least, Duration most) {
        return least.plusNanos((long) (random.nextDouble() * (most.toNanos() - least.toNanos())));
    }

    /** Lets time pass: the length of a fault, never a substitute for a condition. */
    static void during(Duration time) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
    }

    /** Waits for a random member of which a thread is in such a call. */
    Target aim(Predicate<Call> at) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            List<MemberProcess> loaded = crew.loaded();
            MemberProcess member = loaded.get(random.nextInt(loaded.size()));
            for (Call call : log().latest(member.number())) {
                if (at.test(call)) {
                    return new Target(member, call);
                }
            }
            Thread.onSpinWait();
        }
        throw new IllegalStateException("No call to aim at");
    }

    /** Whether the aimed call is still as it was seen, looked at after the blow. */
    boolean isStill(Target target, Predicate<Call> at) {
        return log().latest(target.member().number()).stream()
                .anyMatch(call -> call.asked() == target.call().asked()
                        && call.thread() == target.call().thread()
                        && at.test(call));
    }

    /** Whether any call of any member matches right now. */
    boolean someone(Predicate<Call> is) {
        return crew.loaded().stream().anyMatch(member -> anyCall(member, is));
    }

    /** Whether any call of this member matches, which may be dead. */
    boolean anyCall(MemberProcess member, Predicate<Call> is) {
        return log().latest(member.number()).stream().anyMatch(is);
    }

    /** Waits until every member has got permits that were asked for after now. */
    void awaitFlow() throws InterruptedException {
        awaitFlow(PATIENCE.plus(Duration.ofNanos(4_000L * setup.orders().maxHoldMicros())));
    }

    /** Likewise, for so long at most. */
    void awaitFlow(Duration patience) throws InterruptedException {
        int from = log().size();
        long now = System.nanoTime();
        await("every member to get permits", patience, () -> {
            List<Call> calls = log().calls(from);
            return crew.loaded().stream()
                    .allMatch(member -> calls.stream()
                            .anyMatch(call -> call.member() == member.number()
                                    && call.asked() > now
                                    && call.ended() != 0
                                    && call.wasGranted()));
        });
    }

    /** Waits until every other member has got permits that were asked for after now. */
    void awaitOthers(MemberProcess gone) throws InterruptedException {
        crew.forget(gone);
        awaitFlow();
    }

    /** Waits until there were so many more grants. */
    boolean awaitGrants(int more) throws InterruptedException {
        return awaitCalls(more, Call::wasGranted);
    }

    /** Waits until so many more calls were cancelled or interrupted. */
    boolean awaitGivenUp(int more) throws InterruptedException {
        return awaitCalls(more, call -> call.kind() == CallKind.RACE && call.ending() == Ending.GIVEN_UP);
    }

    private boolean awaitCalls(int more, Predicate<Call> which) throws InterruptedException {
        int[] seen = {log().size(), 0};
        await(more + " more calls", () -> {
            for (; seen[0] < log().size() && log().call(seen[0]).ended() != 0; seen[0]++) {
                seen[1] += which.test(log().call(seen[0])) ? 1 : 0;
            }
            return seen[1] >= more;
        });
        return true;
    }

    /** Something that must be so. */
    void expect(boolean isSo, String otherwise) {
        if (!isSo) {
            failures.add(otherwise);
        }
    }

    List<String> failures() {
        return failures;
    }

    void await(String what, BooleanSupplier condition) throws InterruptedException {
        await(what, PATIENCE, condition);
    }

    void await(String what, Duration patience, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Waited in vain for " + what);
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** A member that takes the place of one that is gone. */
    void replace(MemberProcess gone) throws Exception {
        crew.forget(gone);
        crew.load(crew.start());
    }

    /** The store cannot be used while this runs. */
    void outage(Action action) throws Exception {
        long from = System.nanoTime();
        action.run();
        circumstances.outage(new Span(from, System.nanoTime()));
    }

    /** There is a server that can serve from now on: waits until every member has got a permit, and has that measured. */
    void serves() throws InterruptedException {
        circumstances.serves(System.nanoTime());
        awaitFlow(LONG_PATIENCE);
    }

    /** More holders than the limit are a named exception from then until a lease after now. */
    void excuse(long from) {
        circumstances.excuse(new Span(from, System.nanoTime() + setup.lease().toNanos()));
    }

    /** Part of a fault. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    /**
     * A member to strike.
     *
     * @param member the process
     * @param call one of its calls
     */
    record Target(MemberProcess member, Call call) {}
}
