package io.github.distributedpermit.spi.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.step.PermitRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The order in which instances are served whose calls came within a moment. Their claims do not show which call came first. */
class TurnsTest {

    private static final String KEY = "export";

    private final AtomicLong clock = new AtomicLong(TimeUnit.HOURS.toNanos(1));
    private final Map<String, Instance> instances = new TreeMap<>();
    private final List<String> served = new ArrayList<>();
    private final Queue<Instance> running = new ArrayDeque<>();
    private TableSnapshot key = TableSnapshot.EMPTY;
    private long longestWait;
    private long longestOvertaking;

    @AfterEach
    void close() {
        instances.values().forEach(instance -> instance.permits.close());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5})
    void instancesWhoseCallsComeTogetherTakeTurns(int limit) {
        Instance holder = instance("h", limit);
        holder.arrive(limit);
        List<Instance> three = List.of(instance("a", limit), instance("b", limit), instance("c", limit));
        arrive(10, three);

        endAll();

        List<String> first = served.subList(limit, limit + 20);
        assertThat(three)
                .allSatisfy(instance -> assertThat(Collections.frequency(first, instance.name))
                        .as("%s of %s", instance.name, served)
                        .isGreaterThanOrEqualTo(3));
        assertThat(served).hasSize(limit + 30);
    }

    /** It wants no more than it has, so that it claims again only when a call ends. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void instanceThatGetsAllPermitsTakesTurnsWithThoseWhoseCallsComeMeanwhile(int limit) {
        Instance first = instance("a", limit);
        first.arrive(10);
        Instance other = instance("b", limit);
        other.arrive(10);
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(50));

        endAll();

        assertThat(Collections.frequency(served.subList(limit, limit + 10), "b"))
                .as("b of %s", served)
                .isBetween(3, 7);
        assertThat(served).hasSize(20);
    }

    @Test
    void callsThatComeLaterAreServedBehindThem() {
        instance("h", 2).arrive(2);
        arrive(10, List.of(instance("a", 2), instance("b", 2)));
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(250));
        arrive(5, List.of(instance("c", 2)));

        endAll();

        assertThat(served.subList(22, 27)).containsOnly("c");
    }

    @Test
    void instanceThatWasNotServedKeepsItsPosition() {
        instance("h", 1).arrive(1);
        Instance later = instance("b", 1);
        Instance earlier = instance("c", 1);
        earlier.arrive(1);
        later.arrive(1);
        for (int i = 0; i < 3; i++) {
            later.claim();
            earlier.claim();
        }

        endAll();

        assertThat(served).containsExactly("h", "c", "b");
    }

    @Test
    void callsAreOvertakenByNoneThatComeMuchLaterHoweverLongTheyWait() {
        List<Instance> four = List.of(instance("a", 4), instance("b", 4), instance("c", 4), instance("d", 4));
        for (int burst = 0; burst < 10; burst++) {
            arrive(40, four);
        }
        four.forEach(instance -> instance.toCome = 400);

        endAll();

        assertThat(served).hasSize(4 * 800);
        assertThat(longestOvertaking).isLessThan(TimeUnit.SECONDS.toNanos(1));
        assertThat(longestWait).isGreaterThan(TimeUnit.SECONDS.toNanos(15));
    }

    private Instance instance(String name, int limit) {
        Instance instance = new Instance(name, limit);
        instances.put(name, instance);
        return instance;
    }

    /** The first call of each instance is claimed for before the others are there. */
    private void arrive(int calls, List<Instance> at) {
        at.forEach(instance -> instance.arrived = clock.get());
        at.forEach(instance -> instance.arrive(1));
        at.forEach(instance -> instance.arrive(calls - 1));
    }

    /** Each call ends a moment after another one, the first one first. */
    private void endAll() {
        for (Instance next = running.poll(); next != null; next = running.poll()) {
            next.inUse--;
            if (next.toCome > 0) {
                next.toCome--;
                next.arrivals.add(clock.get());
            }
            next.claim();
        }
    }

    private final class Instance implements SnapshotStore<TableSnapshot> {

        private final String name;
        private final int limit;
        private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
        private final SnapshotPermitStore<TableSnapshot> permits;
        private @Nullable StoreEvents events;
        private long arrived = clock.get();
        /** Of the calls that wait. */
        private final Queue<Long> arrivals = new ArrayDeque<>();

        /** How many calls come when others have ended. */
        private int toCome;

        private int inUse;
        private long sequence;

        Instance(String name, int limit) {
            this.name = name;
            this.limit = limit;
            permits = new SnapshotPermitStore<>(
                    this, new Member(name, name), new SilentCore(), clock::get, scheduler, Duration.ofHours(1));
            events().ready(new StoreSession(name, 1));
        }

        private StoreEvents events() {
            if (events == null) {
                throw new IllegalStateException("Not opened");
            }
            return events;
        }

        void arrive(int calls) {
            arrivals.addAll(Collections.nCopies(calls, arrived));
            claim();
        }

        /** Returns what is not in use, and asks for what the calls want that wait. */
        void claim() {
            clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
            int wanted = Math.min(limit, inUse + arrivals.size());
            Long oldest = arrivals.peek();
            Duration waited = Duration.ofNanos(oldest == null ? 0 : clock.get() - oldest);
            Claim claim = Claim.of(KEY, ++sequence, Duration.ofSeconds(15))
                    .limit(limit)
                    .wanted(wanted)
                    .held(inUse)
                    .head(new Claim.Head(oldest == null ? 0 : 1, waited, oldest != null));
            permits.claim(claim)
                    .toCompletableFuture()
                    .orTimeout(30, TimeUnit.SECONDS)
                    .join();
            instances.values().forEach(Instance::serve);
        }

        private void serve() {
            int granted = key.record(name).map(PermitRecord::permits).orElse(0);
            while (inUse < granted && !arrivals.isEmpty()) {
                inUse++;
                begin(arrivals.remove());
            }
        }

        private void begin(long arrival) {
            served.add(name);
            running.add(this);
            longestWait = Math.max(longestWait, clock.get() - arrival);
            instances.values().stream()
                    .filter(instance -> instance != this)
                    .flatMap(instance -> Stream.ofNullable(instance.arrivals.peek()))
                    .forEach(waiting -> longestOvertaking = Math.max(longestOvertaking, arrival - waiting));
        }

        @Override
        public void open(StoreEvents layer) {
            events = layer;
        }

        @Override
        public Duration session() {
            return Duration.ofSeconds(15);
        }

        @Override
        public CompletionStage<TableSnapshot> read(String name) {
            return CompletableFuture.completedFuture(key);
        }

        @Override
        public CompletionStage<Commit<TableSnapshot>> commit(PlannedCommit<TableSnapshot> planned) {
            if (!planned.before().equals(key)) {
                return CompletableFuture.completedFuture(new Commit.Conflict<>());
            }
            key = TableSnapshot.of(planned.after());
            clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
            instances.values().stream()
                    .filter(instance -> instance != this)
                    .forEach(instance -> instance.events().outdated(KEY));
            return CompletableFuture.completedFuture(new Commit.Done<>(key));
        }

        @Override
        public void close() {
            scheduler.shutdownNow();
        }
    }
}
