package io.github.distributedpermit.core.key;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.core.PermitSettings;
import io.github.distributedpermit.core.engine.PermitEngine;
import io.github.distributedpermit.core.member.CoreEnvironment;
import io.github.distributedpermit.core.member.Observers;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStore;
import io.github.distributedpermit.spi.snapshot.SnapshotPermitStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One run of the real core and the real snapshot layer with a store whose members live by sessions, and which loses the last of what
 * it has confirmed, as a database does. What must hold is that valid holders never exceed the limit, that calls keep their permits if
 * the store is soon back, and that afterwards every permit is there.
 */
final class SessionGraceSimulation {

    /** What becomes of the store. */
    enum Fault {
        NOTHING(false),
        /** It stands still for a while. */
        STALLED(false),
        /** It loses the last seconds, and shows it. */
        CRASH(true),
        /** Two of them within a lease. */
        TWO_CRASHES(true),
        /** It goes on with a copy of long before, in which the sessions have expired or end soon. */
        OLD_COPY(true),
        /** It loses nothing, but does not know that. */
        NOTHING_LOST(true);

        final boolean loses;

        Fault(boolean loses) {
            this.loses = loses;
        }
    }

    static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    static final Duration SESSION = Duration.ofSeconds(15);
    private static final long END = 60 * SECOND;
    private static final int MOST_WAITING = 4;
    private static final int HISTORY = Integer.getInteger("permit.simulation.history", 300);

    /** What happened. */
    record Report(long granted, long lost, long failed, long graces) {

        static final Report NOTHING = new Report(0, 0, 0, 0);

        Report plus(Report other) {
            return new Report(granted + other.granted, lost + other.lost, failed + other.failed, graces + other.graces);
        }
    }

    final Timeline time = new Timeline();
    final SplittableRandom random;
    final SessionGraceServer server;
    private final Fault fault;
    private final boolean lossy;
    private final int limit;
    private final long hold;
    private final List<Player> players = new ArrayList<>();
    private final Deque<String> history = new ArrayDeque<>();
    private boolean open = true;
    private long granted;
    private long lost;
    private long failed;

    /** One instance. */
    private final class Player {

        final SimProcess process;
        final PermitEngine engine;
        final List<Permit> holding = new ArrayList<>();
        int waiting;

        Player(String id) {
            process = new SimProcess(id, time, random.nextLong(1L << 40));
            engine = new PermitEngine(
                    new PermitBackend() {
                        @Override
                        public String name() {
                            return "simulated";
                        }

                        @Override
                        public PermitStore join(Member member, HoldingListener listener) {
                            SessionGraceStore store =
                                    new SessionGraceStore(SessionGraceSimulation.this, server, process, id);
                            return new SnapshotPermitStore<>(
                                    store,
                                    member,
                                    listener,
                                    process::clock,
                                    new Timers(process),
                                    Duration.ofSeconds(10));
                        }
                    },
                    new Member(id, id),
                    CoreSettings.DEFAULTS.toBuilder().lease(SESSION).build(),
                    PermitSettings.builder()
                            .storeTimeout(Duration.ofSeconds(30))
                            .build(),
                    Map.of("k", PermitSettings.ofLimit(limit)),
                    new CoreEnvironment(
                            process::clock, process, Runnable::run, Runnable::run, random::nextDouble, Observers.NONE));
        }
    }

    private SessionGraceSimulation(Fault fault, long seed) {
        this.fault = fault;
        random = new SplittableRandom(seed * 1_000 + fault.ordinal());
        server = new SessionGraceServer(time);
        lossy = random.nextDouble() < 0.3;
        limit = 1 + random.nextInt(4);
        hold = (200 + random.nextLong(12_000)) * 1_000_000;
    }

    static Report run(Fault fault, long seed) {
        SessionGraceSimulation run = new SessionGraceSimulation(fault, seed);
        try {
            return run.run();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(
                    "%s seed %d%n%s%n%s".formatted(fault, seed, String.join("\n", run.history), e.getMessage()), e);
        }
    }

    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /** Whether a message is lost. */
    boolean loses() {
        return open && lossy && chance(0.02);
    }

    long delay() {
        return 100_000 + random.nextLong(4_000_000);
    }

    void trace(String text) {
        history.add("%.3f %s".formatted(time.now() / 1e9, text));
        if (history.size() > HISTORY) {
            history.remove();
        }
    }

    /** A member has been served, and is notified. */
    void notice(String id, String key) {
        players.stream().filter(p -> p.process.id.equals(id)).forEach(p -> server.notice(id, key));
    }

    private Report run() {
        int members = 2 + random.nextInt(3);
        for (int i = 0; i < members; i++) {
            join();
        }
        long at = 8 * SECOND + random.nextLong(15 * SECOND);
        switch (fault) {
            case NOTHING -> {}
            case STALLED -> time.after(at, null, () -> server.down(random.nextLong(20 * SECOND)));
            case CRASH -> time.after(at, null, () -> crash(random.nextLong(2 * SECOND)));
            case TWO_CRASHES -> {
                time.after(at, null, () -> crash(random.nextLong(2 * SECOND)));
                time.after(
                        at + 4 * SECOND + random.nextLong(15 * SECOND), null, () -> crash(random.nextLong(2 * SECOND)));
            }
            case OLD_COPY -> time.after(at, null, () -> crash(at - 4 * SECOND));
            case NOTHING_LOST -> time.after(at, null, () -> crash(0));
        }
        runTo(END);
        open = false;
        for (long end = END + 30 * SECOND; end < END + 600 * SECOND && isBusy(); end += 10 * SECOND) {
            runTo(end);
        }
        runTo(time.now() + 60 * SECOND);
        for (Player player : players) {
            if (player.waiting > 0) {
                throw new AssertionError("%s: %d calls do not end".formatted(player.process, player.waiting));
            }
        }
        if (server.used("k") != 0) {
            throw new AssertionError("%d permits stay recorded".formatted(server.used("k")));
        }
        if (!fault.loses && server.graces > 0) {
            throw new AssertionError("A grace, but nothing was lost");
        }
        return new Report(granted, lost, failed, server.graces);
    }

    /** In most runs an instance starts while the store is away, and comes before the others. */
    private void crash(long since) {
        trace("--- the store loses the last %.3f s".formatted(since / 1e9));
        server.lose(since);
        server.down(random.nextLong(3 * SECOND));
        if (chance(0.7)) {
            join();
        }
    }

    private boolean isBusy() {
        return players.stream().anyMatch(p -> p.waiting > 0 || !p.holding.isEmpty());
    }

    private void runTo(long end) {
        while (time.step(end)) {
            if (time.atThisInstant() > 5_000) {
                throw new AssertionError("storm");
            }
            long valid = players.stream()
                    .flatMap(p -> p.holding.stream())
                    .filter(Permit::isHeld)
                    .count();
            if (valid > limit) {
                throw new AssertionError("%d permits are held validly, the limit is %d".formatted(valid, limit));
            }
        }
    }

    private void join() {
        Player player = new Player("m" + players.size());
        trace(player.process + " joins");
        players.add(player);
        nextCall(player);
    }

    private void nextCall(Player player) {
        time.after(random.nextLong(3 * SECOND), player.process, () -> {
            if (open) {
                if (player.waiting < MOST_WAITING) {
                    call(player);
                }
                nextCall(player);
            }
        });
    }

    private void call(Player player) {
        PermitRequest request = PermitRequest.of("k");
        double kind = random.nextDouble();
        if (kind < 0.15) {
            request = request.withoutWaiting();
        } else if (kind < 0.5) {
            request = request.withTimeout(Duration.ofMillis(random.nextLong(20_000)));
        }
        player.waiting++;
        player.engine.named("k").acquireAsync(request).whenComplete((permit, failure) -> {
            player.waiting--;
            if (permit != null) {
                held(player, permit);
            } else if (failure instanceof PermitBackendException) {
                failed++;
            } else if (!(failure instanceof PermitRejectedException || failure instanceof CancellationException)) {
                throw new AssertionError("ended with " + failure, failure);
            }
        });
    }

    private void held(Player player, Permit permit) {
        granted++;
        player.holding.add(permit);
        trace(player.process + " holds by " + permit.token());
        permit.onLoss(() -> {
            lost++;
            trace(player.process + " has lost " + permit.token());
        });
        time.after(random.nextLong(2 * hold), player.process, () -> {
            trace(player.process + " releases " + permit.token());
            player.holding.remove(permit);
            permit.release();
        });
    }

    /** The scheduler of the snapshot layer of a process, in virtual time. */
    private final class Timers extends AbstractExecutorService implements ScheduledExecutorService {

        private final SimProcess process;

        Timers(SimProcess process) {
            this.process = process;
        }

        @Override
        public void execute(Runnable task) {
            time.after(0, process, task);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            Task<Void> scheduled = new Task<>(task);
            time.after(unit.toNanos(delay), process, scheduled);
            return scheduled;
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
            return schedule(
                    () -> {
                        task.run();
                        scheduleWithFixedDelay(task, delay, delay, unit);
                    },
                    first,
                    unit);
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    private static final class Task<V extends @Nullable Object> extends FutureTask<V> implements ScheduledFuture<V> {

        @SuppressWarnings("NullAway") // a task without a result
        Task(Runnable task) {
            super(task, null);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }
}
