package io.github.distributedpermit.sample.it;

import static io.github.distributedpermit.sample.it.Fleet.LIMIT;
import static io.github.distributedpermit.sample.it.Fleet.LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ShutdownIT {

    // so long that nothing is collected: what the stopped instance does not return stays lost
    private static final String LEASE = "--distributed-permit.lease=1h";

    @Test
    void terminatedInstanceServesItsWaitersAndLetsRunningCallsFinish() {
        try (Fleet fleet = Fleet.start("shutdown", "--sample.embedded-redis.port=" + Fleet.freePort(), LEASE)) {
            SampleInstance leaving = fleet.first();
            SampleInstance staying = fleet.second();
            List<CompletableFuture<Answer>> running = Fleet.exportAt(leaving, LIMIT, "22s");
            await().atMost(LONG).until(() -> leaving.gauge("holders") == LIMIT);
            List<CompletableFuture<Answer>> waiting = Fleet.exportAt(leaving, 2, "200ms");
            await().atMost(LONG).until(() -> leaving.gauge("waiters") == 2);
            // Tomcat counts a request as ended before it has sent the answer, and the server stops after the last one:
            // the
            // answer of the longest export may be cut off, so it is not looked at
            leaving.export(LIMIT, "3s");
            List<CompletableFuture<Answer>> elsewhere = Fleet.exportAt(staying, LIMIT + 1, "200ms");
            await().atMost(LONG).until(() -> leaving.gauge("waiters") == 3 && staying.gauge("waiters") == LIMIT + 1);

            leaving.terminate();
            List<Answer> finished = Fleet.join(running);
            List<Answer> served = Fleet.join(waiting);
            List<Answer> others = Fleet.join(elsewhere);

            assertThat(finished).extracting(Answer::status).containsOnly(200);
            assertThat(served).extracting(Answer::status).containsOnly(200);
            assertThat(others).extracting(Answer::status).containsOnly(200);
            assertThat(Execution.mostAtOnce(Fleet.executions(Stream.of(finished, served, others)
                            .flatMap(List::stream)
                            .toList())))
                    .isLessThanOrEqualTo(LIMIT);
            leaving.awaitEnd();
            Fleet.awaitDrained(staying);
        }
    }
}
