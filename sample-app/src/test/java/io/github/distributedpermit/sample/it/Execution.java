package io.github.distributedpermit.sample.it;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** When an export really ran, as it said itself. All instances of a test share the machine's clock. */
record Execution(Instant startedAt, Instant endedAt) {

    static Execution of(Answer answer) {
        return new Execution(Instant.parse(answer.text("startedAt")), Instant.parse(answer.text("endedAt")));
    }

    /** The most executions that ran at one moment. */
    static int mostAtOnce(Collection<Execution> executions) {
        record Change(Instant at, int by) {}
        List<Change> changes = new ArrayList<>();
        for (Execution execution : executions) {
            changes.add(new Change(execution.startedAt, 1));
            changes.add(new Change(execution.endedAt, -1));
        }
        changes.sort(Comparator.comparing(Change::at).thenComparing(Change::by));
        int running = 0;
        int most = 0;
        for (Change change : changes) {
            running += change.by;
            most = Math.max(most, running);
        }
        return most;
    }
}
