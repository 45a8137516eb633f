package io.github.distributedpermit.sample.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two instances under a load of requests that take two permits one after the other, restarted by SIGTERM in turn. */
class RollingUpdateIT {

    /** More than the limit, so that requests wait for both of their permits. */
    private static final int CLIENTS = 12;

    private static final int RESTARTS = Integer.getInteger("sample.restarts", 2);
    private static final int MOST_REQUESTS = 40_000;
    private static final String NO_ANSWER = "no answer";

    /** Written by Tomcat for each request that it has accepted, with the status of the answer. */
    private static final Pattern ANSWERED = Pattern.compile("(?m)^(\\d+) POST /reports$");

    @TempDir
    private Path logs;

    private final List<SampleInstance> started = new ArrayList<>();
    private final AtomicReferenceArray<SampleInstance> instances = new AtomicReferenceArray<>(2);
    private final AtomicInteger requests = new AtomicInteger();
    private volatile boolean over;

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void noAcceptedRequestFailsWhenInstancesAreRestarted() throws Exception {
        String port = "--sample.embedded-redis.port=" + Fleet.freePort();
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try {
            instances.set(0, start(port));
            instances.set(1, start(port));
            List<Future<Map<String, Integer>>> loads = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int first = i;
                loads.add(clients.submit(() -> load(first)));
            }
            for (int restart = 0; restart < RESTARTS; restart++) {
                int next = restart % 2;
                SampleInstance leaving = instances.get(next);
                leaving.terminate();
                leaving.awaitEnd();
                instances.set(next, start(port));
            }
            over = true;
            Map<String, Integer> seen = new TreeMap<>();
            for (Future<Map<String, Integer>> load : loads) {
                load.get().forEach((status, count) -> seen.merge(status, count, Integer::sum));
            }
            Map<String, Integer> accepted = new TreeMap<>();
            for (int i = 0; i < started.size(); i++) {
                Matcher line = ANSWERED.matcher(Files.readString(logs.resolve("answers-" + i + ".log")));
                while (line.find()) {
                    accepted.merge(line.group(1), 1, Integer::sum);
                }
            }
            System.out.printf("%d restarts: instances answered %s, clients received %s%n", RESTARTS, accepted, seen);
            assertThat(accepted).as("answers to requests that were accepted").containsOnlyKeys("200");
            assertThat(seen).as("what clients saw").containsKey("200");
            assertThat(seen.keySet()).isSubsetOf("200", NO_ANSWER);
            Fleet.awaitDrained(instances.get(0), instances.get(1));
        } finally {
            over = true;
            clients.shutdownNow();
            started.forEach(SampleInstance::close);
        }
    }

    private SampleInstance start(String port) {
        SampleInstance instance = SampleInstance.start(
                "rolling-update-" + started.size(),
                port,
                "--distributed-permit.lease=1h", // what an instance does not return stays lost
                "--server.tomcat.accesslog.enabled=true",
                "--server.tomcat.accesslog.directory=" + logs,
                "--server.tomcat.accesslog.prefix=answers-" + started.size(),
                "--server.tomcat.accesslog.file-date-format=",
                "--server.tomcat.accesslog.buffered=false",
                "--server.tomcat.accesslog.pattern=%s %m %U");
        started.add(instance);
        instance.awaitWell();
        return instance;
    }

    /** Sends requests to both by turns. One that a stopped instance refuses, or a stopping one leaves unread, was not accepted. */
    private Map<String, Integer> load(int first) throws InterruptedException {
        Map<String, Integer> seen = new TreeMap<>();
        for (int i = first; !over && requests.incrementAndGet() <= MOST_REQUESTS; i++) {
            String result;
            try {
                result = String.valueOf(instances
                        .get(i % 2)
                        .send("POST", "/reports?ids=1,2&hold=20ms")
                        .join()
                        .status());
            } catch (CompletionException e) {
                result = NO_ANSWER;
                TimeUnit.NANOSECONDS.sleep(Duration.ofMillis(50).toNanos()); // a refused connection costs no time
            }
            seen.merge(result, 1, Integer::sum);
        }
        return seen;
    }
}
