package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.OnStoreFailure;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.key.Bench.Asked;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.OverrideLimit;
import io.github.distributedpermit.spi.Pause;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitCall;
import io.github.distributedpermit.spi.PermitObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An error of the virtual machine, of an observer or of a listener costs at most the call that it happens to. */
class ErrorsTest {

    private static final String KEY = Bench.KEY;
    private static final int LIMIT = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** What fails, once, at its n-th use. */
    private enum Source {
        CLOCK,
        TIMER,
        CLAIM,
        OBSERVER,
        JITTER
    }

    /** As a full heap would be, which JUnit would not survive. */
    private static final class Planted extends VirtualMachineError {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    private final Timeline time = new Timeline();
    private final SimNetwork network = new SimNetwork(time, () -> new StepTable(Duration.ofSeconds(30)));
    private final Bench.Conditions conditions = new Bench.Conditions();
    private final SimProcess process = new SimProcess("a", time, 1_000_000_007L);

    private @Nullable Source failing;
    private int usesUntilFailure;
    private boolean failed;
    private boolean failingOn;
    private int timersSet;

    /** The permit that the call at some depth has and has not returned. */
    private @Nullable Permit taken;

    /** The same of a call that does not block. */
    private @Nullable CompletableFuture<Permit> asked;

    /**
     * Calls at every depth near the end of a stack: an error may end them anywhere, inside every step of the core. With
     * another member calls claim, and those that follow a failed claim wait for the end of its back-off.
     */
    @ParameterizedTest
    @CsvSource({
        "true, false, false",
        "true, true, false",
        "false, false, false",
        "true, false, true",
        "true, true, true"
    })
    void callWithAFullStackCostsNoOtherCall(boolean alone, boolean observed, boolean async) throws Exception {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
        timers.setRemoveOnCancelPolicy(true);
        timers.prestartAllCoreThreads();
        PermitBackend backend = new LocalPermitBackend();
        PermitEngine engine =
                engine(backend, timers, observed ? new Observers(List.of(new PermitObserver() {})) : Observers.NONE);
        PermitEngine other = alone
                ? engine
                : new PermitEngine(
                        backend,
                        new Member("b", "b"),
                        CoreSettings.DEFAULTS,
                        PermitSettings.NONE,
                        Map.of(KEY, Bench.limit(LIMIT)),
                        CoreEnvironment.of(
                                System::nanoTime,
                                (task, delay) -> () -> {},
                                Runnable::run,
                                Runnable::run,
                                Observers.NONE));
        NamedPermits permits = engine.named(KEY);
        Runnable call = async ? () -> takeOneAsync(permits) : () -> takeOne(permits);
        for (int i = 0; i < 100; i++) {
            call.run();
        }
        // A class of the JDK whose initializer finds the stack full can't be used any more: those that format messages.
        assertThatThrownBy(() -> permits.acquire(PermitRequest.of(KEY).withPermits(LIMIT + 1)))
                .hasMessageContaining("" + LIMIT);
        callOnAFullStack(call, alone ? 1 : 9);

        CompletableFuture<Permit> all =
                permits.acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT).withTimeout(PATIENCE));
        all.get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS).release();
        CompletableFuture<Permit> others = other.named(KEY)
                .acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT).withTimeout(PATIENCE));
        others.get(2 * PATIENCE.toSeconds(), TimeUnit.SECONDS).release();
        assertThat(Peek.permit(engine, KEY).counts.holders()).isZero();
        assertThat(Peek.permit(engine, KEY).counts.waiters()).isZero();
        engine.close();
        timers.shutdownNow();
    }

    /** At the end the instance waits for no call that has ended. */
    @Test
    void callWithAFullStackWithoutALimitIsNotWaitedFor() throws Exception {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(2);
        PermitEngine engine = new PermitEngine(
                new LocalPermitBackend(),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, Bench.limit(PermitDefinition.UNLIMITED)),
                environment(timers, Observers.NONE));
        NamedPermits permits = engine.named(KEY);
        for (int i = 0; i < 100; i++) {
            takeOne(permits);
        }
        callOnAFullStack(() -> takeOne(permits), 1);

        assertThat(Peek.registry(engine).unlimitedGrants().isInUse()).isFalse();
        assertThat(Peek.permit(engine, KEY).counts.holders()).isZero();
        engine.close();
        timers.shutdownNow();
    }

    private void callOnAFullStack(Runnable call, int step) throws InterruptedException {
        AtomicInteger errors = new AtomicInteger();
        Thread deep = new Thread(null, () -> errors.set(callAtEveryDepth(call, step)), "deep", 256 * 1024);
        deep.setDaemon(true);
        deep.start();
        deep.join(300_000);
        assertThat(deep.isAlive()).as("the thread with the full stack hangs").isFalse();
        assertThat(errors.get()).isPositive();
    }

    private int callAtEveryDepth(Runnable call, int step) {
        int reachable = 1;
        int unreachable = 1 << 20;
        while (unreachable - reachable > 1) {
            int middle = (reachable + unreachable) / 2;
            if (failsAt(middle, () -> {})) {
                unreachable = middle;
            } else {
                reachable = middle;
            }
        }
        int errors = 0;
        // Once descend is compiled its frames are smaller, and the stack ends deeper than just measured.
        for (int depth = Math.max(1, reachable - 500); depth < reachable + 10 || errors == 0; depth += step) {
            errors += failsAt(depth, call) ? 1 : 0;
        }
        return errors;
    }

    private boolean failsAt(int depth, Runnable call) {
        try {
            descend(depth, call);
            return false;
        } catch (VirtualMachineError | CompletionException e) { // the JDK links lambdas with an error of another class
            assertThat(e instanceof Error ? e : e.getCause()).isInstanceOf(VirtualMachineError.class);
            // the permit was acquired, and it was the caller's own call of close() that found no room
            Permit permit = taken;
            if (permit != null) {
                permit.close();
                taken = null;
            }
            // the same, or it was that of join()
            CompletableFuture<Permit> future = asked;
            if (future != null) {
                future.thenAccept(Permit::close);
                asked = null;
            }
            return true;
        }
    }

    private static int descend(int depth, Runnable call) {
        if (depth == 0) {
            call.run();
            return 0;
        }
        return 1 + descend(depth - 1, call);
    }

    private void takeOne(NamedPermits permits) {
        Permit permit;
        try {
            permit = permits.acquire(PermitRequest.of(KEY).withTimeout(PATIENCE));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        taken = permit;
        permit.close();
        taken = null;
    }

    private void takeOneAsync(NamedPermits permits) {
        CompletableFuture<Permit> future =
                permits.acquireAsync(PermitRequest.of(KEY).withTimeout(PATIENCE));
        asked = future;
        future.join().close();
        asked = null;
    }

    /** Whatever fails, and at whichever of its uses: what is taken comes back, and who waits is served or told. */
    @ParameterizedTest
    @EnumSource(Source.class)
    void errorOfTheSurroundingsLosesNoPermit(Source source) {
        for (int use = 1; use <= 60; use++) {
            ErrorsTest world = new ErrorsTest();
            world.playWithErrorAt(source, use);
            if (!world.failed) {
                return; // it is not used so often
            }
        }
    }

    private void playWithErrorAt(Source source, int use) {
        PermitEngine engine = failingEngine();
        conditions.refusing = true; // so that claims are repeated as well
        failing = source;
        usesUntilFailure = use;
        List<Asked> calls = new ArrayList<>();
        List<Permit> held = new ArrayList<>();
        for (int i = 0; i < LIMIT + 2; i++) {
            PermitRequest request = PermitRequest.of(KEY).withTimeout(Duration.ofSeconds(40));
            guarded(() -> calls.add(new Asked(engine.named(KEY).acquireAsync(request))));
            guarded(() -> calls.add(new Asked(engine.named(KEY).acquireAsync(request.withoutWaiting()))));
            run(Duration.ofMillis(2));
        }
        conditions.refusing = false;
        for (int round = 0; round < 20 && !calls.isEmpty(); round++) {
            run(Duration.ofSeconds(4));
            Source paused = failing;
            failing = null;
            calls.stream().filter(Asked::holds).forEach(call -> held.add(call.permit()));
            calls.removeIf(call -> !call.isWaiting());
            failing = paused;
            held.forEach(permit -> guarded(permit::release));
            held.clear();
        }
        failing = null;
        run(Bench.LEASE.multipliedBy(2));
        String at = source + " at use " + use;
        assertThat(calls).as(at).isEmpty();
        SimTable table = network.server.find(KEY);
        assertThat(table == null ? 0 : table.used()).as(at).isZero();
        Asked all =
                new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
        run(Duration.ofSeconds(1));
        assertThat(all.holds()).as(at).isTrue();
        all.release();
        run(Bench.LEASE.multipliedBy(2));
        assertThat(Peek.permit(engine, KEY).counts.holders()).as(at).isZero();
        assertThat(Peek.permit(engine, KEY).counts.waiters()).as(at).isZero();
        assertThat(engine.keys()).as(at).isZero();
        assertThat(engine.problem()).as(at).isEmpty();
    }

    /** Between the decision and the count: the call has a permit that is not counted. */
    @Test
    void callThatWasDecidedWhenAnErrorStruckHasItsPermit() {
        PermitEngine engine = failingEngine();
        Asked first = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        KeyQueue queue = Objects.requireNonNull(Peek.queue(engine, KEY));
        PermitName permit = Peek.permit(engine, KEY);
        List<Outcome> woken = new ArrayList<>();
        Waiter second = new Waiter(permit, KEY, 1, true, queue.host().now(), woken::add) {
            @Override
            public boolean decide(Outcome value) {
                if (super.decide(value)) {
                    throw new Planted();
                }
                return false;
            }
        };
        guarded(() -> queue.enter(second));
        run(Duration.ofSeconds(1));
        assertThat(woken).isNotEmpty().hasOnlyElementsOfType(Grant.class);
        assertThat(((Grant) woken.get(0)).isHeld()).isTrue();
        assertThat(permit.counts.holders()).isEqualTo(2);
        Asked others = new Asked(engine.named(KEY)
                .acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT - 1).withoutWaiting()));
        run(Duration.ofSeconds(1));
        assertThat(others.failure()).as("of two permits in use and one free").isNotNull();
        ((Grant) woken.get(0)).release();
        first.release();
        run(Bench.LEASE.multipliedBy(2));
        assertThat(permit.counts.holders()).isZero();
        assertThat(engine.keys()).isZero();
    }

    @Test
    void errorInAnObserverLeavesTheCallItsPermit() {
        PermitEngine engine = failingEngine();
        failing = Source.OBSERVER;
        usesUntilFailure = 1;
        Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(2));
        assertThat(failed).isTrue();
        assertThat(call.holds()).isTrue();
    }

    @Test
    void errorInAListenerOrAnObserverKeepsNobodyFromHearingOfALoss() {
        PermitEngine engine = failingEngine();
        List<String> told = new ArrayList<>();
        Asked one = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        Asked two = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        Consumer<String> broken = name -> {
            told.add(name);
            throw new NoClassDefFoundError("planted");
        };
        one.permit().onLoss(() -> broken.accept("one"));
        one.permit().onLoss(() -> told.add("one, second"));
        two.permit().onLoss(() -> told.add("two"));
        failing = Source.OBSERVER;
        usesUntilFailure = 1;
        conditions.refusing = true;
        run(Bench.LEASE.multipliedBy(2));
        assertThat(failed).isTrue();
        assertThat(told).containsExactlyInAnyOrder("one", "one, second", "two");
    }

    @Test
    void claimsThatAreNotAnsweredAreAProblemUntilTheyAre() {
        PermitEngine engine = failingEngine();
        Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        conditions.answersLost = true;
        run(Bench.COMMAND.multipliedBy(2));
        assertThat(engine.problem()).isEmpty();
        run(Bench.LEASE);
        assertThat(engine.problem())
                .hasValueSatisfying(
                        problem -> assertThat(problem).contains("1 key(s)").doesNotContain(KEY));
        conditions.answersLost = false;
        run(Bench.LEASE);
        assertThat(engine.problem()).isEmpty();
        call.release();
    }

    @Test
    void timersThatDoNotRunAreAProblem() {
        PermitEngine engine = failingEngine();
        Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        assertThat(call.holds()).isTrue();
        process.stop(Bench.LEASE.toNanos());
        run(Bench.LEASE.dividedBy(3).plus(Bench.COMMAND.multipliedBy(4)));
        assertThat(engine.problem()).isPresent();
    }

    /** Each failure is reported more than once, by the event and by who began it: that must not multiply. */
    @Test
    void lineThatGoesOnFailingIsLookedAtNowAndThen() {
        PermitEngine engine = failingEngine();
        Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        assertThat(call.holds()).isTrue();
        timersSet = 0;
        failing = Source.CLOCK;
        failingOn = true;
        run(Duration.ofMinutes(2));
        assertThat(failed).isTrue();
        assertThat(timersSet).isBetween(20, 100);
        failing = null;
        run(Duration.ofSeconds(5));
        Asked next =
                new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
        run(Duration.ofSeconds(1));
        assertThat(next.holds()).isTrue();
        next.release();
    }

    /** Its only timer finds the clock failing, at each of the steps of giving up. */
    @Test
    void callEndsThoughItsTimeOutFails() {
        for (int use = 1; use <= 8; use++) {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            Asked all = new Asked(
                    engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
            world.run(Duration.ofMillis(5));
            assertThat(all.holds()).isTrue();
            Asked call = new Asked(
                    engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withTimeout(Duration.ofMillis(200))));
            world.run(Duration.ofMillis(199));
            world.failing = Source.CLOCK;
            world.usesUntilFailure = use;
            world.run(Duration.ofSeconds(2));
            assertThat(call.failure()).as("use " + use).isNotNull();
            all.release();
        }
    }

    /**
     * Runs a test for the first use of what fails in it, for the second, and so on, until it has fewer uses.
     *
     * @param test answers whether that use has failed
     */
    private static void whateverUseFails(int most, IntPredicate test) {
        boolean failed = true;
        for (int use = 1; failed && use < most; use++) {
            failed = test.test(use);
            assertThat(failed || use > 1).isTrue();
        }
    }

    /** The client delivers each answer once: what has become of it after an error, the queue has to find out. */
    @Test
    void answerThatAnErrorKeepsFromItsKeyIsReceivedSoon() {
        whateverUseFails(Integer.MAX_VALUE, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Duration.ofNanos(900_000));
            boolean failed = world.failsWithin(Source.CLOCK, use, Duration.ofSeconds(1));
            assertThat(call.holds() || call.failure() instanceof Planted)
                    .as("use " + use)
                    .isTrue();
            return failed;
        });
    }

    @Test
    void permitWhoseRenewalWasAnsweredIsNotLostByAnError() {
        whateverUseFails(40, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Bench.LEASE.dividedBy(3).plusNanos(900_000));
            assertThat(call.holds()).isTrue();
            boolean failed = world.failsWithin(Source.CLOCK, use, Bench.LEASE);
            assertThat(call.holds()).as("use " + use).isTrue();
            return failed;
        });
    }

    /** Nothing repeats the order to end the calls that wait. */
    @Test
    void noCallWaitsAfterTheEndOfTheInstanceWhateverFailed() {
        whateverUseFails(Integer.MAX_VALUE, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            Asked all = new Asked(
                    engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
            world.run(Duration.ofMillis(5));
            Asked waiting = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Duration.ofMillis(5));
            world.failing = Source.CLOCK;
            world.usesUntilFailure = use;
            world.guarded(engine::close);
            boolean failed = world.failsWithin(Source.CLOCK, world.usesUntilFailure, Duration.ofSeconds(1));
            if (waiting.isWaiting()) {
                engine.close(); // the error was that of the first attempt
            }
            assertThat(waiting.failure())
                    .as("use " + use)
                    .isInstanceOfAny(PermitRejectedException.class, Planted.class);
            all.release();
            return failed;
        });
    }

    @Test
    void limitThatWasChangedIsStatedWhateverFailed() {
        whateverUseFails(40, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            Asked all = new Asked(
                    engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
            world.run(Duration.ofMillis(5));
            Asked waiting = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Duration.ofMillis(5));
            world.failing = Source.CLOCK;
            world.usesUntilFailure = use;
            world.guarded(() -> engine.changeLimits(Map.of(KEY, 1)));
            boolean failed = world.failsWithin(Source.CLOCK, world.usesUntilFailure, Duration.ofSeconds(3));
            List<Claim> claims = world.network.link("a").claims;
            assertThat(claims.get(claims.size() - 1).counts().limit())
                    .as("use " + use)
                    .isEqualTo(1);
            assertThat(waiting.isWaiting()).isTrue();
            all.release();
            return failed;
        });
    }

    @Test
    void pauseOfANameIsObeyedWhateverFailed() {
        whateverUseFails(60, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine();
            engine.obeyPauses("shop");
            Asked all = new Asked(
                    engine.named(KEY).acquireAsync(PermitRequest.of(KEY).withPermits(LIMIT)));
            world.run(Duration.ofMillis(5));
            Asked waiting = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Duration.ofMillis(5));
            world.network.server.override(Pause.ofName(KEY), OverrideLimit.of(0));
            world.network.server.override(Pause.CHANGES, OverrideLimit.of(1));
            boolean failed = world.failsWithin(Source.CLOCK, use, Bench.LEASE);
            all.release();
            world.run(Duration.ofSeconds(1));
            assertThat(waiting.isWaiting()).as("use " + use).isTrue();
            world.network.server.override(Pause.ofName(KEY), OverrideLimit.empty());
            world.network.server.override(Pause.CHANGES, OverrideLimit.of(2));
            world.run(Bench.LEASE);
            assertThat(waiting.holds()).as("use " + use).isTrue();
            return failed;
        });
    }

    /** Without a record in the store, other instances would be granted the permit of the call that runs. */
    @ParameterizedTest
    @EnumSource(names = {"CLOCK", "TIMER"})
    void storeIsUsedAgainAfterAnOutageWhateverFailed(Source source) {
        whateverUseFails(40, use -> {
            ErrorsTest world = new ErrorsTest();
            PermitEngine engine = world.failingEngine(PermitSettings.builder()
                    .limit(LIMIT)
                    .onStoreFailure(OnStoreFailure.ALLOW)
                    .build());
            world.conditions.refusing = true;
            Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
            world.run(Bench.STORE_TIMEOUT.multipliedBy(2));
            assertThat(call.holds()).isTrue();
            boolean struck = world.failsWithin(source, use, Duration.ofSeconds(5));
            world.conditions.refusing = false;
            world.run(Bench.LEASE);
            SimTable table = world.network.server.find(KEY);
            assertThat(table == null ? 0 : table.used()).as("use " + use).isEqualTo(1);
            call.release();
            return struck;
        });
    }

    /** With a share of its own while the store does not answer, an instance counts the calls that run without their permits. */
    @Test
    void lostPermitThatCameBackWithAnErrorIsNotCountedAnyMore() {
        PermitEngine engine = failingEngine(PermitSettings.builder()
                .limit(LIMIT)
                .onStoreFailure(OnStoreFailure.LOCAL)
                .build());
        Asked call = new Asked(engine.named(KEY).acquireAsync(PermitRequest.of(KEY)));
        run(Duration.ofMillis(5));
        assertThat(call.holds()).isTrue();
        conditions.refusing = true;
        run(Bench.LEASE.multipliedBy(2));
        conditions.refusing = false;
        run(Bench.LEASE.multipliedBy(2));
        assertThat(call.holds()).isFalse();
        assertThat(engine.keys()).isEqualTo(1);
        failing = Source.CLOCK;
        usesUntilFailure = 1;
        call.release();
        assertThat(failed).isTrue();
        run(Bench.LEASE.multipliedBy(2));
        assertThat(engine.keys()).isZero();
    }

    /** Whether this source has failed, once, at its n-th use from now on. */
    private boolean failsWithin(Source source, int use, Duration time) {
        failing = source;
        usesUntilFailure = use;
        run(time);
        failing = null;
        return failed;
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (Planted e) {
            // the error of this call
        }
    }

    /** As a scheduler does that survives what its tasks throw. */
    private void run(Duration duration) {
        long until = time.now() + duration.toNanos();
        while (time.now() < until) {
            guarded(() -> time.runUntil(until));
        }
    }

    private void use(Source source) {
        if (source == failing && (failingOn || --usesUntilFailure == 0)) {
            failed = true;
            throw new Planted();
        }
    }

    private static PermitEngine engine(PermitBackend backend, ScheduledThreadPoolExecutor timers, Observers observers) {
        return new PermitEngine(
                backend,
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, Bench.limit(LIMIT)),
                environment(timers, observers));
    }

    private static CoreEnvironment environment(ScheduledThreadPoolExecutor timers, Observers observers) {
        return CoreEnvironment.of(
                System::nanoTime,
                (task, delay) -> {
                    Future<?> set = timers.schedule(task, delay, TimeUnit.NANOSECONDS);
                    return () -> set.cancel(false);
                },
                Runnable::run,
                Runnable::run,
                observers);
    }

    private PermitEngine failingEngine() {
        return failingEngine(Bench.limit(LIMIT));
    }

    private PermitEngine failingEngine(PermitSettings named) {
        network.weather = conditions;
        PermitObserver observer = new PermitObserver() {
            @Override
            public void acquired(PermitCall call, Via via, Duration waited) {
                use(Source.OBSERVER);
            }

            @Override
            public void released(PermitCall call, Duration held) {
                use(Source.OBSERVER);
            }

            @Override
            public void lost(PermitCall call) {
                use(Source.OBSERVER);
            }

            @Override
            public void claimed(boolean answered, Duration took) {
                use(Source.OBSERVER);
            }
        };
        network.tap = new SimNetwork.Tap() {
            @Override
            public void sent(SimLink link, Claim claim) {
                use(Source.CLAIM);
            }
        };
        return new PermitEngine(
                network.backend(process),
                new Member("a", "a"),
                CoreSettings.DEFAULTS,
                PermitSettings.NONE,
                Map.of(KEY, named),
                new CoreEnvironment(
                        () -> {
                            use(Source.CLOCK);
                            return process.clock();
                        },
                        (task, delay) -> {
                            timersSet++;
                            use(Source.TIMER);
                            return process.schedule(task, delay);
                        },
                        Runnable::run,
                        Runnable::run,
                        () -> {
                            use(Source.JITTER);
                            return 0.5;
                        },
                        Bench.observing(observer)));
    }
}
