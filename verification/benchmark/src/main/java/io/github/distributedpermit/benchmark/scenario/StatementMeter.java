package io.github.distributedpermit.benchmark.scenario;

import io.github.distributedpermit.benchmark.load.Quartiles;
import io.github.distributedpermit.benchmark.load.Slice;
import io.github.distributedpermit.benchmark.load.SliceStats;
import io.github.distributedpermit.benchmark.servers.PostgresServer;
import io.github.distributedpermit.benchmark.servers.ScriptCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Counts, by pair, the statements that a database executes during a slice, and how long they take there. */
final class StatementMeter implements UnaryOperator<Slice> {

    private final PostgresServer server;
    private final String like;
    private final List<Double> perPair = new ArrayList<>();
    private final List<Double> micros = new ArrayList<>();

    /** @param like a pattern of LIKE for the text of the statements */
    StatementMeter(PostgresServer server, String like) {
        this.server = server;
        this.like = like;
    }

    @Override
    public Slice apply(Slice slice) {
        return number -> {
            ScriptCalls before = server.statements(like);
            SliceStats stats = slice.run(number);
            ScriptCalls during = server.statements(like).since(before);
            if (number >= 0) {
                perPair.add((double) during.calls() / stats.pairs());
                micros.add((double) during.micros() / stats.pairs());
            }
            return stats;
        };
    }

    Quartiles perPair() {
        return Quartiles.of(perPair);
    }

    /** How long the server executed the statements of a pair. */
    Quartiles microsPerPair() {
        return Quartiles.of(micros);
    }
}
