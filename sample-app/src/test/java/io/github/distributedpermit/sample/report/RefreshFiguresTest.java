package io.github.distributedpermit.sample.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.ports.FreePorts;
import io.github.distributedpermit.sample.SampleApplication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * What one refresh of ten open pages costs on real stores, with a thousand permits and five thousand waiting calls. Bytes are bounded;
 * times are printed, for docs/operations.md.
 */
@Tag("slow")
class RefreshFiguresTest {

    private static final int PAGES = 10;
    private static final int PERMITS = 1_000;
    private static final int WAITING = 4_000;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final List<CompletableFuture<Permit>> calls = new ArrayList<>();

    @Test
    void onRedis() {
        refresh("redis", "--sample.embedded-redis.port=" + FreePorts.some(1).get(0));
    }

    @Test
    void onPostgres() {
        refresh("jdbc", "--sample.embedded-postgres.port=" + FreePorts.some(1).get(0));
    }

    @Test
    void onZooKeeper() throws Exception {
        try (TestingServer server = new TestingServer()) {
            refresh("zookeeper", "--distributed-permit.zookeeper.connect-string=" + server.getConnectString());
        }
    }

    private void refresh(String store, String... settings) {
        String[] limits = IntStream.range(1, PERMITS)
                .mapToObj("--distributed-permit.permits.job-%04d.limit=3"::formatted)
                .toArray(String[]::new);
        String[] all = Stream.of(
                        Stream.of(limits),
                        Stream.of(settings),
                        Stream.of(
                                "--distributed-permit.backend=" + store,
                                "--distributed-permit.permits.report-export.limit=12",
                                "--distributed-permit.permits.report-export.timeout=10m",
                                "--server.port=0",
                                "--server.shutdown=immediate",
                                "--spring.lifecycle.timeout-per-shutdown-phase=1s"))
                .flatMap(each -> each)
                .toArray(String[]::new);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(SampleApplication.class).run(all)) {
            Permits permits = context.getBean(Permits.class);
            call(permits, "report-export", 12 + WAITING);
            IntStream.range(1, PERMITS).forEach(i -> call(permits, "job-%04d".formatted(i), 4));
            int granted = 12 + 3 * (PERMITS - 1);
            await().atMost(PATIENCE)
                    .until(() ->
                            calls.stream().filter(CompletableFuture::isDone).count() == granted);
            // The first two load classes; what they have seen is not shown for the paths that follow.
            Stream.of(
                            "/list",
                            "/permit?name=report-export",
                            "/list?filter=-",
                            "/permit?name=report-export&key=report-export")
                    .forEach(path -> assertThat(whole(context, store, path)).isBetween(5_000, 50_000));
        } finally {
            calls.forEach(call -> call.cancel(false));
            calls.clear();
        }
    }

    private void call(Permits permits, String name, int count) {
        NamedPermits named = permits.named(name);
        for (int i = 0; i < count; i++) {
            calls.add(named.acquireAsync(named.request(name)));
        }
    }

    /**
     * The bytes of an answer with everything in it. The endpoint reads keys for two seconds at most and says which ones it has not read;
     * that is no fault on a busy machine, so it is asked again. Each try is printed.
     */
    private static int whole(ConfigurableApplicationContext context, String store, String path) {
        return await().atMost(PATIENCE)
                .until(() -> ask(context, store, path), answer -> !answer.contains("\"problem\""))
                .length();
    }

    /** From all pages at once; returns one answer. */
    private static String ask(ConfigurableApplicationContext context, String store, String path) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/actuator/permitsui" + path))
                .build();
        HttpClient client = HttpClient.newHttpClient();
        long begin = System.nanoTime();
        List<HttpResponse<byte[]>> answers =
                IntStream.range(0, PAGES)
                        .mapToObj(i -> client.sendAsync(request, BodyHandlers.ofByteArray()))
                        .toList()
                        .stream()
                        .map(CompletableFuture::join)
                        .toList();
        long millis = (System.nanoTime() - begin) / 1_000_000;
        assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(200);
        byte[] answer = answers.get(0).body();
        System.out.printf("%s %s: %d bytes, %d pages in %d ms%n", store, path, answer.length, PAGES, millis);
        return new String(answer, StandardCharsets.UTF_8);
    }
}
