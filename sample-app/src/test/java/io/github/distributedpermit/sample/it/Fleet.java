package io.github.distributedpermit.sample.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Two instances that share a store. */
final class Fleet implements AutoCloseable {

    static final int LIMIT = 3;
    static final Duration LONG = Duration.ofSeconds(60);

    private final SampleInstance first;
    private final SampleInstance second;

    private Fleet(SampleInstance first, SampleInstance second) {
        this.first = first;
        this.second = second;
    }

    /** Starts both at the same time and returns when both are well. */
    static Fleet start(String name, String... settings) {
        Fleet fleet =
                new Fleet(SampleInstance.start(name + "-1", settings), SampleInstance.start(name + "-2", settings));
        try {
            fleet.first.awaitWell();
            fleet.second.awaitWell();
            return fleet;
        } catch (RuntimeException | Error e) {
            fleet.close();
            throw e;
        }
    }

    SampleInstance first() {
        return first;
    }

    SampleInstance second() {
        return second;
    }

    void awaitHealth(String status) {
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(first.health()).isEqualTo(status);
            assertThat(second.health()).isEqualTo(status);
        });
    }

    /**
     * At rest, as many tries as the limit succeed over all instances, and one more fails. Repeated for a while, for
     * returns travel behind their calls; a permit that is really lost stays lost, as the tests' leases are long.
     */
    static void awaitDrained(SampleInstance... instances) {
        await().atMost(LONG.multipliedBy(3)).untilAsserted(() -> assertDrains(List.of(instances)));
    }

    private static void assertDrains(List<SampleInstance> instances) {
        List<CompletableFuture<Answer>> tries = IntStream.range(0, LIMIT)
                .mapToObj(i -> instances.get(i % instances.size()).exportNow(i, "5s"))
                .toList();
        await().atMost(LONG)
                .until(() ->
                        instances.stream().mapToInt(i -> i.gauge("holders")).sum() == LIMIT
                                || tries.stream().anyMatch(CompletableFuture::isDone));
        List<Answer> beyond = instances.stream()
                .map(instance -> instance.exportNow(LIMIT, "0s").join())
                .toList();
        assertThat(tries.stream().map(CompletableFuture::join))
                .extracting(Answer::status)
                .containsOnly(200);
        assertThat(beyond).extracting(Answer::status).containsOnly(429);
    }

    /** Sends that many exports at once, by turns to both. */
    List<CompletableFuture<Answer>> export(int count, String hold) {
        return IntStream.range(0, count)
                .mapToObj(id -> (id % 2 == 0 ? first : second).export(id, hold))
                .toList();
    }

    static List<CompletableFuture<Answer>> exportAt(SampleInstance instance, int count, String hold) {
        return IntStream.range(0, count)
                .mapToObj(id -> instance.export(id, hold))
                .toList();
    }

    static List<Answer> join(List<CompletableFuture<Answer>> calls) {
        return calls.stream().map(CompletableFuture::join).toList();
    }

    static List<Execution> executions(List<Answer> answers) {
        return answers.stream()
                .filter(answer -> answer.status() == 200)
                .map(Execution::of)
                .toList();
    }

    static List<Execution> executions(List<Answer> some, List<Answer> others) {
        return executions(Stream.concat(some.stream(), others.stream()).toList());
    }

    static int freePort() {
        return FreePorts.some(1).get(0);
    }

    static boolean listens(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 2_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
