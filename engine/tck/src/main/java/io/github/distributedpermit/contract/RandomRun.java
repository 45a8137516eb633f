package io.github.distributedpermit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Members that do random things behind a bad network; afterwards the network is good and all come to rest. */
final class RandomRun {

    private static final int MEMBERS = 4;
    private static final int TURNS = 1_500;
    private static final int ROUNDS_TO_REST = 5_000;
    private static final int ROUNDS_PER_CLAIM = 4; // in the others the answers arrive
    private static final int MOST_WAITERS = 4;
    private static final Duration FEW_CLAIMS = Duration.ofMillis(10);

    private final Harness harness;
    private final FaultyFixture fixture;
    private final long seed;
    private final Random random;
    private final boolean mayDie;
    private final Map<String, Integer> limits;
    private final List<SimulatedMember> members = new ArrayList<>();
    private int grants;
    private int losses;
    private boolean outlasted;

    RandomRun(Harness harness, FaultyFixture fixture, long seed) {
        this.harness = harness;
        this.fixture = fixture;
        this.seed = seed;
        this.random = new Random(seed);
        this.mayDie = seed % 2 == 1; // in every other run the leases are long, for short ones hide leaks
        this.limits = Map.of(harness.key(), 1, harness.key(), 3);
        for (int i = 0; i < MEMBERS; i++) {
            join();
        }
    }

    int grants() {
        return grants;
    }

    int losses() {
        return losses;
    }

    void drive() {
        fixture.rough();
        for (int turn = 0; turn < TURNS; turn++) {
            act();
            fixture.passUnderWay(pause());
            assertLimits();
            outlastALease(turn);
        }
        comeToRest();
        limits.keySet().forEach(this::assertDrained);
        members.forEach(this::count);
    }

    /** Once, as soon after the middle as a member holds: chance alone may hit no holder. */
    private void outlastALease(int turn) {
        long now = fixture.nanoTime();
        if (mayDie
                && !outlasted
                && turn > TURNS / 2
                && limits.keySet().stream()
                        .anyMatch(
                                key -> members.stream().anyMatch(m -> m.key(key).inUse(now) > 0))) {
            outlasted = true;
            fixture.passUnderWay(fixture.shortLease().multipliedBy(3).dividedBy(2));
        }
    }

    private void assertDrained(String key) {
        harness.assertSound(key);
        if (!mayDie) {
            assertThat(harness.look(key).used()).as("leaked, seed %d", seed).isZero();
        }
        if (!mayDie && members.get(0).isKeptAlive()) {
            assertThat(members.stream().mapToInt(m -> m.key(key).losses()).sum())
                    .as("lost, or granted by mistake, seed %d", seed)
                    .isZero();
        }
    }

    private void join() {
        SimulatedMember member = new SimulatedMember(fixture, mayDie ? fixture.shortLease() : fixture.lease(), limits);
        harness.closeAfterwards(member.store());
        members.add(member);
    }

    private void act() {
        SimulatedMember member = members.get(random.nextInt(MEMBERS));
        SimulatedKey key = member.keys().get(random.nextInt(limits.size()));
        double event = random.nextDouble();
        if (event < 0.3 && key.waiting() < MOST_WAITERS) {
            key.arrive(1 + random.nextInt(Math.min(2, limit(key))));
        } else if (event < 0.65) {
            key.release();
        } else if (event < 0.72) {
            key.cancelFirst();
        } else if (event < 0.722 && mayDie) {
            crash(member);
        } else if (event < 0.75 && key.waiting() > 0) {
            leaveWhileOthersReturn(key);
        } else {
            key.claim();
        }
    }

    /**
     * The last waiting member leaves the queue, and the others return permits at that moment. What they planned to grant to it
     * must not reach it.
     */
    private void leaveWhileOthersReturn(SimulatedKey leaving) {
        List<SimulatedKey> others = members.stream()
                .map(m -> m.key(leaving.key()))
                .filter(k -> k != leaving)
                .toList();
        others.forEach(SimulatedKey::cancelAll);
        fixture.passUnderWay(FEW_CLAIMS);
        leaving.cancelAll();
        others.forEach(SimulatedKey::release);
        fixture.passUnderWay(FEW_CLAIMS);
        leaving.arrive(1);
    }

    private void crash(SimulatedMember member) {
        count(member);
        member.crash();
        if (member.isKeptAlive()) {
            fixture.die(member.store());
        }
        members.remove(member);
        join();
    }

    private void count(SimulatedMember member) {
        grants += member.keys().stream().mapToInt(SimulatedKey::grants).sum();
        losses += member.keys().stream().mapToInt(SimulatedKey::losses).sum();
    }

    /** Mostly shorter than a message takes, at times longer than a lease. */
    private Duration pause() {
        if (random.nextInt(500) == 0) {
            return fixture.shortLease().multipliedBy(random.nextInt(150)).dividedBy(100);
        }
        return Duration.ofNanos(random.nextInt(400_000));
    }

    private void assertLimits() {
        long now = fixture.nanoTime();
        limits.forEach((key, limit) -> assertThat(
                        members.stream().mapToInt(m -> m.key(key).inUse(now)).sum())
                .as("permits of %s validly held, seed %d", key, seed)
                .isLessThanOrEqualTo(limit));
        assertThat(members.stream().flatMap(m -> m.keys().stream()).filter(SimulatedKey::gotMoreThanItWanted))
                .as("got more than they wanted, seed %d", seed)
                .isEmpty();
    }

    private void comeToRest() {
        fixture.calm();
        Duration step = fixture.shortLease().dividedBy(50);
        Duration patience =
                fixture.shortLease().dividedBy(2); // of a slow store there would always be an unanswered claim
        for (int round = 0; round < ROUNDS_TO_REST && !isAtRest(); round++) {
            for (SimulatedMember member : members) {
                for (SimulatedKey key : member.keys()) {
                    key.release();
                    if (round % ROUNDS_PER_CLAIM == 0 && !key.isAtRest() && !key.awaitsAnswer(patience)) {
                        key.claim();
                    }
                }
            }
            fixture.passUnderWay(step);
            assertLimits();
        }
        assertThat(isAtRest())
                .as("all were served and all is returned, seed %d: %s", seed, restless())
                .isTrue();
    }

    private boolean isAtRest() {
        return members.stream().flatMap(m -> m.keys().stream()).allMatch(SimulatedKey::isAtRest);
    }

    private List<String> restless() {
        return members.stream()
                .flatMap(m -> m.keys().stream())
                .filter(k -> !k.isAtRest())
                .map(k -> k + " in " + harness.look(k.key()))
                .toList();
    }

    private int limit(SimulatedKey key) {
        return limits.getOrDefault(key.key(), 1);
    }
}
