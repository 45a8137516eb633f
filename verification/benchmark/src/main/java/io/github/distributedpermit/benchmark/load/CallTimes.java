package io.github.distributedpermit.benchmark.load;

import java.util.Arrays;
import java.util.function.ToLongBiFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * What calls took by the clock of their threads, in nanoseconds; not a number if none was noted.
 *
 * @param acquire from asking to being inside, at the median
 * @param slowAcquire the same, exceeded by one call of a hundred
 * @param release from leaving to being able to go on, at the median
 * @param pair acquire and release of a call together, at the median
 */
public record CallTimes(double acquire, double slowAcquire, double release, double pair) {

    static CallTimes of(Seat[] seats) {
        double[] acquires = sorted(seats, (seat, call) -> seat.entered(call) - seat.asked(call));
        double[] releases = sorted(seats, (seat, call) -> seat.done(call) - seat.left(call));
        double[] pairs = sorted(
                seats, (seat, call) -> seat.entered(call) - seat.asked(call) + seat.done(call) - seat.left(call));
        return new CallTimes(at(acquires, 0.5), at(acquires, 0.99), at(releases, 0.5), at(pairs, 0.5));
    }

    private static double[] sorted(Seat[] seats, ToLongBiFunction<Seat, Integer> what) {
        return Arrays.stream(seats)
                .flatMapToLong(seat -> calls(seat, what))
                .asDoubleStream()
                .sorted()
                .toArray();
    }

    private static LongStream calls(Seat seat, ToLongBiFunction<Seat, Integer> what) {
        return IntStream.range(0, seat.noted()).mapToLong(call -> what.applyAsLong(seat, call));
    }

    private static double at(double[] sorted, double share) {
        return sorted.length == 0 ? Double.NaN : sorted[(int) (share * (sorted.length - 1))];
    }
}
