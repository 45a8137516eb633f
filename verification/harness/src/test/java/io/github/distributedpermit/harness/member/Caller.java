package io.github.distributedpermit.harness.member;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.harness.history.CallKind;
import io.github.distributedpermit.harness.history.CallNote;
import io.github.distributedpermit.harness.history.Ending;
import io.github.distributedpermit.harness.history.EventLog;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One thread that calls and calls. */
final class Caller extends Thread {

    private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int MAX_RACE_MICROS = 3_000;

    private static final int MANY = 100;
    private static final int LONG = 1_000_000;

    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final int member;
    private final int thread;
    private final EventLog log;
    private final NamedPermits permits;
    private final Orders orders;
    private final Interrupter interrupter;
    private final Random random;
    private volatile boolean stopped;

    Caller(int member, int thread, EventLog log, NamedPermits permits, Orders orders, Interrupter interrupter) {
        super("caller-" + thread);
        this.member = member;
        this.thread = thread;
        this.log = log;
        this.permits = permits;
        this.orders = orders;
        this.interrupter = interrupter;
        this.random = new Random(orders.seed() * 1_000_003 + member * 1_009L + thread);
        setDaemon(true);
    }

    void stopCalling() {
        stopped = true;
    }

    @Override
    public void run() {
        while (!stopped) {
            int dice = random.nextInt(100);
            CallKind kind = dice < orders.tries()
                    ? CallKind.TRY
                    : dice < orders.tries() + orders.races() ? CallKind.RACE : CallKind.WAIT;
            Ending ending = call(kind, key());
            if (ending == Ending.FAILED || ending == Ending.REFUSED || ending == Ending.BROKEN) {
                pause();
            }
            if (ending == Ending.SHUT_DOWN) {
                return;
            }
        }
    }

    /**
     * Waits for the whole pause. One park is not enough: a call that failed at once may leave the park permit of
     * its thread available, and without the pause millions of failing calls fill the history during an outage.
     */
    private static void pause() {
        long until = System.nanoTime() + PAUSE;
        for (long left = PAUSE; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Any key; if there are many, the first ones much more often than the others. */
    private int key() {
        double chance = random.nextDouble();
        return (int) (orders.keys() * (orders.keys() < MANY ? chance : chance * chance * chance));
    }

    private Ending call(CallKind kind, int key) {
        Duration timeout = Duration.ofMillis(kind == CallKind.TRY ? 0 : orders.timeoutMillis());
        PermitRequest request = PermitRequest.of(MemberMain.NAME + "-" + key);
        request = kind == CallKind.TRY ? request.withoutWaiting() : request.withTimeout(timeout);
        CallNote note = log.asked(member, thread, key, kind, timeout.toNanos());
        Ending ending = kind != CallKind.RACE
                ? plainly(request, note)
                : random.nextBoolean() ? interrupted(request, note) : cancelled(request, note);
        note.ended(ending);
        return ending;
    }

    private Ending plainly(PermitRequest request, CallNote note) {
        try {
            return use(permits.acquire(request), note);
        } catch (InterruptedException e) {
            return Ending.GIVEN_UP;
        } catch (RuntimeException e) {
            return ending(e);
        }
    }

    private Ending interrupted(PermitRequest request, CallNote note) {
        Interrupter.Attempt attempt = interrupter.later(this::interrupt, random.nextInt(MAX_RACE_MICROS));
        Permit permit = null;
        Ending ending = Ending.GIVEN_UP;
        try {
            permit = permits.acquire(request);
        } catch (InterruptedException e) {
            ending = Ending.GIVEN_UP;
        } catch (RuntimeException e) {
            ending = ending(e);
        }
        attempt.end();
        interrupted(); // it may have come too late
        return permit == null ? ending : use(permit, note);
    }

    private Ending cancelled(PermitRequest request, CallNote note) {
        CompletableFuture<Permit> call = permits.acquireAsync(request);
        Interrupter.Attempt attempt = interrupter.later(() -> call.cancel(false), random.nextInt(MAX_RACE_MICROS));
        try {
            return use(call.get(), note);
        } catch (CancellationException | InterruptedException e) {
            return Ending.GIVEN_UP;
        } catch (ExecutionException e) {
            return e.getCause() instanceof RuntimeException cause ? ending(cause) : Ending.BROKEN;
        } finally {
            attempt.end();
        }
    }

    private Ending use(Permit permit, CallNote note) {
        note.entered(permit.token().version(), permit.token().count());
        permit.onLoss(note::lost);
        long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(holdMicros());
        for (long now = System.nanoTime(); ; now = System.nanoTime()) {
            if (permit.isHeld()) {
                note.held(now);
            }
            if (now >= until) {
                break;
            }
            LockSupport.parkNanos(Math.min(LOOK, until - now));
        }
        note.leaving();
        permit.release();
        return Ending.RETURNED;
    }

    /** If calls may be long, one in ten is longer than half of that, and most are short. */
    private long holdMicros() {
        double share = random.nextDouble();
        int range = orders.maxHoldMicros() - orders.minHoldMicros();
        return orders.minHoldMicros() + (long) (range * (range < LONG ? share : Math.pow(share, 6)));
    }

    /** So that the log says why calls failed. */
    private static void tellOnce(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (TOLD.size() < MANY && TOLD.add(root.toString())) {
            System.err.println("A call failed: " + failure + ", because of " + root);
        }
    }

    private static Ending ending(RuntimeException e) {
        if (e instanceof PermitBackendException) {
            tellOnce(e);
            return Ending.FAILED;
        }
        if (e instanceof PermitRejectedException rejected) {
            return switch (rejected.reason()) {
                case TIMED_OUT -> Ending.TIMED_OUT;
                case SHUTTING_DOWN -> Ending.SHUT_DOWN;
                default -> Ending.REFUSED;
            };
        }
        e.printStackTrace();
        return Ending.BROKEN;
    }
}
