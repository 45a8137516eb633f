package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.fleet.Cast;
import io.github.distributedpermit.benchmark.load.Duel;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.report.Mark;
import io.github.distributedpermit.benchmark.report.Report;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The rows that every contended workload has. */
record Rows(Report report, Duel duel, String load) {

    void utilisation(double most) {
        own("idle share of the permits", SliceStats::idleShare, Mark.atMost(most));
    }

    void fairness() {
        own("variation of calls per thread", SliceStats::variation, Mark.atMost(0.03));
        own("longest / mean wait", SliceStats::longestByMean, Mark.atMost(2));
    }

    void own(String metric, ToDoubleFunction<SliceStats> what, Mark mark) {
        report.row(metric, load, "", duel.figure(Cast.OURS, what), mark);
    }

    void ratio(String metric, ToDoubleFunction<SliceStats> what, Mark mark) {
        report.row(metric, load, "x RSemaphore", duel.ratio(Cast.OURS, Cast.RSEMAPHORE, what), mark);
    }

    void figures(List<String> names) {
        for (String name : names) {
            report.figure(load, name, "pairs per second", duel.figure(name, SliceStats::perSecond));
            report.figure(load, name, "idle share", duel.figure(name, SliceStats::idleShare));
            report.figure(load, name, "hand-over us", duel.figure(name, stats -> stats.handOver() / 1000));
            report.figure(load, name, "variation per thread", duel.figure(name, SliceStats::variation));
            report.figure(load, name, "longest / mean wait", duel.figure(name, SliceStats::longestByMean));
            report.figure(load, name, "threads that never got in", duel.figure(name, SliceStats::inVain));
        }
    }
}
