package io.github.distributedpermit.prometheusserver;

import static org.awaitility.Awaitility.await;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.distributedpermit.ports.FreePorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A Prometheus of its own: a process on a free port of the loopback interface that ends with the JVM at the latest. */
public final class PrometheusServer implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(20))
            .build();

    private final int port = FreePorts.some(1).get(0);
    private final Process process;

    private PrometheusServer(Path directory, String configuration) throws IOException {
        Path file = Files.writeString(directory.resolve("prometheus.yml"), configuration);
        process = new ProcessBuilder(
                        PrometheusBinaries.server().toString(),
                        "--config.file=" + file,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port,
                        "--log.level=warn")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prometheus.log").toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "prometheus-" + port));
    }

    /**
     * Starts a server that scrapes {@code /metrics} of these ports twice a second, and waits until all are scraped.
     *
     * @param directory for its files
     * @param rules a file with rules
     */
    public static PrometheusServer scraping(Path directory, Path rules, List<Integer> ports) {
        String targets = ports.stream().map(port -> "'127.0.0.1:" + port + "'").collect(Collectors.joining(","));
        try {
            PrometheusServer server = new PrometheusServer(directory, """
                    global:
                      scrape_interval: 500ms
                      scrape_timeout: 500ms
                      evaluation_interval: 1s
                    rule_files: ['%s']
                    scrape_configs:
                      - job_name: permits
                        static_configs: [{targets: [%s]}]
                    """.formatted(rules.toAbsolutePath(), targets));
            await().atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> server.number("sum(up{job='permits'})") == ports.size());
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The answer to a query with one number; not a number if there is none. */
    public double number(String query) {
        Map<String, Double> answer = numbers(query, "");
        return answer.size() == 1 ? answer.values().iterator().next() : Double.NaN;
    }

    /** The answer to a query with one number for each value of a label. */
    public Map<String, Double> numbers(String query, String label) {
        JsonArray result = get("query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8))
                .getAsJsonObject("data")
                .getAsJsonArray("result");
        Map<String, Double> numbers = new TreeMap<>();
        for (JsonElement each : result) {
            JsonElement value = each.getAsJsonObject().getAsJsonObject("metric").get(label);
            numbers.put(
                    value == null ? "" : value.getAsString(),
                    Double.valueOf(each.getAsJsonObject()
                            .getAsJsonArray("value")
                            .get(1)
                            .getAsString()
                            .replace("+Inf", "Infinity")));
        }
        return numbers;
    }

    /** The names of alerts that are firing or pending. */
    public List<String> alerts() {
        return get("alerts").getAsJsonObject("data").getAsJsonArray("alerts").asList().stream()
                .map(alert -> alert.getAsJsonObject()
                        .getAsJsonObject("labels")
                        .get("alertname")
                        .getAsString())
                .toList();
    }

    private JsonObject get(String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + path))
                .timeout(Duration.ofSeconds(60))
                .build();
        try {
            String body = CLIENT.send(request, BodyHandlers.ofString()).body();
            JsonObject answer = JsonParser.parseString(body).getAsJsonObject();
            if (!answer.get("status").getAsString().equals("success")) {
                throw new AssertionError(body);
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("Prometheus does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
