package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.report.Report;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import io.github.distributedpermit.benchmark.servers.ScriptServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Counts, by pair, the script calls that reach Redis during a slice (not what a script does inside), and the processor
 * time of server and clients, which share the machine.
 */
final class CallMeter implements UnaryOperator<Slice> {

    private final ScriptServer redis;
    private final List<Double> callsPerPair = new ArrayList<>();
    private final List<Double> microsPerCall = new ArrayList<>();
    private final List<Double> serverMicros = new ArrayList<>();
    private final List<Double> clientMicros = new ArrayList<>();

    CallMeter(ScriptServer redis) {
        this.redis = redis;
    }

    @Override
    public Slice apply(Slice slice) {
        return number -> {
            ScriptCalls before = redis.scriptCalls();
            double server = redis.cpuSeconds();
            double all = ownSeconds();
            SliceStats stats = slice.run(number);
            server = redis.cpuSeconds() - server;
            all = ownSeconds() - all;
            ScriptCalls during = redis.scriptCalls().since(before);
            if (number >= 0) {
                callsPerPair.add((double) during.calls() / stats.pairs());
                microsPerCall.add((double) during.micros() / during.calls());
                serverMicros.add(1e6 * server / stats.pairs());
                clientMicros.add(1e6 * (all - server) / stats.pairs());
            }
            return stats;
        };
    }

    Quartiles callsPerPair() {
        return Quartiles.of(callsPerPair);
    }

    /** How long the server executed each script call. */
    Quartiles microsPerCall() {
        return Quartiles.of(microsPerCall);
    }

    /** Processor time of the server by pair, as a multiple of a peer's in the same round. */
    Quartiles serverTimeBy(CallMeter peer) {
        return Quartiles.of(IntStream.range(0, Math.min(serverMicros.size(), peer.serverMicros.size()))
                .mapToDouble(round -> serverMicros.get(round) / peer.serverMicros.get(round))
                .toArray());
    }

    /** Puts what was counted into the report. */
    void report(Report report, String load, String contender) {
        report.figure(load, contender, "script calls per pair", callsPerPair());
        report.figure(load, contender, "server CPU us per pair", Quartiles.of(serverMicros));
        report.figure(load, contender, "client CPU us per pair", Quartiles.of(clientMicros));
    }

    /** Processor time of this process and of those it has started, the server among them. */
    private static double ownSeconds() {
        ProcessHandle self = ProcessHandle.current();
        return Stream.concat(Stream.of(self), self.descendants())
                .mapToDouble(process ->
                        process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos() / 1e9)
                .sum();
    }
}
