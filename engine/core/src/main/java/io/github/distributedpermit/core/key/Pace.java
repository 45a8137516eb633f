package io.github.distributedpermit.core.key;

import io.github.distributedpermit.core.Times;

/**
 * How fast permits of one key come to the calls of this process that wait, from the times between the last ones. So it shows at once how
 * long calls hold them, and how many of them other members leave to this one. Guarded by the lock of the {@link KeyQueue}.
 */
final class Pace {

    /** With fewer times it says nothing. */
    private static final int LEAST = 10;

    /** How many times count; earlier ones fade. */
    private static final int MOST = 50;

    /** How many standard deviations the sum of times to come may be below what the last ones make expect. */
    private static final int DEVIATIONS = 3;

    private int times;
    private double mean;
    /** Of the time for one permit. */
    private double variance;
    /** How many permits came at a time, on average. */
    private double together;

    /** When the last of these times was taken. */
    private long takenAt;

    /** When the last one came; {@link Times#NEVER} if no call has waited since. */
    private long last = Times.NEVER;

    /** A call that has waited, or arrives while others wait, has got so many permits. */
    void served(int weight, long now) {
        if (isOutdated(now)) {
            forget();
        }
        if (last != Times.NEVER) {
            double off = (double) (now - last) / weight - mean;
            times = Math.min(times + 1, MOST);
            takenAt = now;
            mean += off / times;
            variance = (1 - 1.0 / times) * (variance + weight * off * off / times); // a mean of several varies less
            together += (weight - together) / times;
        }
        last = now;
    }

    /** No call waits any more. The time until the next permit says nothing about how fast they come. */
    void pause() {
        last = Times.NEVER;
    }

    /** Another limit applies. */
    void forget() {
        times = 0;
        mean = 0;
        variance = 0;
        together = 0;
        pause();
    }

    /** Whether no time was taken for so long that the pace may be another one now. */
    private boolean isOutdated(long now) {
        return mean > 0 && now - takenAt > LEAST * mean * together;
    }

    /** How long it usually takes until so many permits have come. */
    double usual(long permits) {
        return permits * mean;
    }

    /** How long it takes at least, as far as is known. Of fewer permits never more than this or 0. */
    double least(long permits, long now) {
        return times < LEAST || isOutdated(now)
                ? 0
                : usual(permits)
                        - DEVIATIONS
                                * Math.sqrt(variance * (permits + (double) permits * permits / (times * together)));
    }
}
