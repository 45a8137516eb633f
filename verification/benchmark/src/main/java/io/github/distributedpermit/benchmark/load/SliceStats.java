package io.github.distributedpermit.benchmark.load;

import java.util.Arrays;
import java.util.function.ToLongBiFunction;
import java.util.stream.IntStream;

/**
 * What a slice came to.
 *
 * @param pairs calls that are over
 * @param perSecond calls per second, of those that entered within the slice
 * @param idleShare share of the permits' time that was unused while calls waited, 1 - utilisation
 * @param handOver nanoseconds from a release to the start that it made possible, at the median
 * @param variation of the calls per thread: standard deviation by mean
 * @param processes calls of the fastest process by those of the slowest
 * @param longestByMean longest wait by mean wait; waits still open at the end count
 * @param inVain threads that never got in
 * @param violations calls that entered while as many as allowed were inside
 * @param most calls inside of one key at once
 * @param times what the calls that were noted one by one took
 */
public record SliceStats(
        long pairs,
        double perSecond,
        double idleShare,
        double handOver,
        double variation,
        double processes,
        double longestByMean,
        long inVain,
        long violations,
        int most,
        CallTimes times) {

    /** Reads the board after a slice. */
    public static SliceStats of(Board board, Workload work, long from, long until) {
        Seat[] seats = IntStream.range(0, work.seats()).mapToObj(board::seat).toArray(Seat[]::new);
        long pairs = Arrays.stream(seats).mapToLong(Seat::calls).sum();
        long late = Arrays.stream(seats)
                .mapToLong(seat -> count(seat, call -> seat.entered(call) >= until))
                .sum();
        double seconds = (until - from) / 1e9;
        return new SliceStats(
                pairs,
                (pairs - late) / seconds,
                idleShare(seats, work, from, until),
                handOver(seats, work, until),
                variation(Arrays.stream(seats).mapToLong(Seat::calls).toArray()),
                processes(seats, work),
                waits(seats, until),
                Arrays.stream(seats).filter(seat -> seat.calls() == 0).count(),
                board.violations(),
                board.most(),
                CallTimes.of(seats));
    }

    private static long count(Seat seat, java.util.function.IntPredicate which) {
        return IntStream.range(0, seat.noted()).filter(which).count();
    }

    private static double idleShare(Seat[] seats, Workload work, long from, long until) {
        double used = 0;
        for (Seat seat : seats) {
            for (int call = 0; call < seat.noted(); call++) {
                used += Math.max(0, Math.min(until, seat.left(call)) - Math.max(from, seat.entered(call)));
            }
        }
        return 1 - used / ((double) (until - from) * work.limit() * work.keys());
    }

    /** The k-th release makes the (k + limit)-th start possible. Of one key only. */
    private static double handOver(Seat[] seats, Workload work, long until) {
        long[] entered = sorted(seats, until, Seat::entered);
        long[] left = sorted(seats, until, Seat::left);
        int limit = work.limit();
        int count = Math.min(left.length, entered.length - limit);
        if (work.keys() > 1 || count < 1) {
            return Double.NaN;
        }
        double[] gaps = IntStream.range(0, count)
                .mapToDouble(k -> Math.max(0, entered[k + limit] - left[k]))
                .toArray();
        return Quartiles.of(gaps).median();
    }

    private static long[] sorted(Seat[] seats, long until, ToLongBiFunction<Seat, Integer> what) {
        return Arrays.stream(seats)
                .flatMapToLong(seat -> IntStream.range(0, seat.noted()).mapToLong(call -> what.applyAsLong(seat, call)))
                .filter(time -> time < until)
                .sorted()
                .toArray();
    }

    private static double variation(long[] counts) {
        double mean = Arrays.stream(counts).average().orElse(Double.NaN);
        double square = Arrays.stream(counts)
                .mapToDouble(count -> (count - mean) * (count - mean))
                .average()
                .orElse(Double.NaN);
        return Math.sqrt(square) / mean;
    }

    private static double processes(Seat[] seats, Workload work) {
        long[] perProcess = new long[work.processes()];
        for (int i = 0; i < seats.length; i++) {
            perProcess[i / work.threads()] += seats[i].calls();
        }
        return (double) Arrays.stream(perProcess).max().orElse(0)
                / Arrays.stream(perProcess).min().orElse(0);
    }

    private static double waits(Seat[] seats, long until) {
        long longest = 0;
        double sum = 0;
        long count = 0;
        for (Seat seat : seats) {
            for (int call = 0; call < seat.noted(); call++) {
                long wait = Math.min(until, seat.entered(call)) - seat.asked(call);
                longest = Math.max(longest, wait);
                sum += wait;
                count++;
            }
            if (seat.openSince() != 0) {
                long wait = Math.max(0, until - seat.openSince());
                longest = Math.max(longest, wait);
                sum += wait;
                count++;
            }
        }
        return longest * count / sum;
    }
}
