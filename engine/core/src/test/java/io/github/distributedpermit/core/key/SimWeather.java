package io.github.distributedpermit.core.key;

import java.util.SplittableRandom;

/** Bad weather as a plan wants it, until {@link #clear}. */
final class SimWeather implements Weather {

    private final SimPlan plan;
    private final SplittableRandom random;
    private final Timeline time;
    private double lost;
    private double doubled;
    private double late;
    private boolean refusing;
    private boolean swallowing;
    /** When something last went wrong. */
    private long lastTrouble = Long.MIN_VALUE;

    SimWeather(SimPlan plan, Timeline time) {
        this.plan = plan;
        this.random = plan.random;
        this.time = time;
        lost = new double[] {0, 0.01, 0.08}[plan.severity];
        doubled = new double[] {0, 0.01, 0.1}[plan.severity];
        late = new double[] {0, 0.002, 0.03}[plan.severity];
    }

    /** The store is away: it refuses, or nothing is ever received from it. */
    void outage(boolean refuses) {
        refusing = refuses;
        swallowing = !refuses;
        trouble(time.now());
    }

    void outageEnds() {
        refusing = false;
        swallowing = false;
        trouble(time.now());
    }

    void clear() {
        outageEnds();
        lost = 0;
        doubled = 0;
        late = 0;
    }

    void trouble(long at) {
        lastTrouble = Math.max(lastTrouble, at);
    }

    long lastTrouble() {
        return lastTrouble;
    }

    private long delay() {
        if (swallowing || (lost > 0 && random.nextDouble() < lost)) {
            trouble(time.now());
            return LOST;
        }
        if (late > 0 && random.nextDouble() < late) {
            long delay = random.nextLong(plan.endless ? 3_000 * MILLI : 2 * plan.lease);
            trouble(time.now() + delay);
            return delay;
        }
        return random.nextLong(MILLI / 10, plan.slowest);
    }

    @Override
    public long claimDelay() {
        if (refusing && random.nextInt(4) > 0) {
            return LOST;
        }
        return delay();
    }

    @Override
    public long answerDelay() {
        return delay();
    }

    @Override
    public long pushDelay() {
        return delay();
    }

    @Override
    public boolean doubles() {
        return doubled > 0 && random.nextDouble() < doubled;
    }

    @Override
    public boolean fails() {
        boolean fails = refusing || (lost > 0 && random.nextDouble() < lost / 4);
        if (fails) {
            trouble(time.now());
        }
        return fails;
    }
}
