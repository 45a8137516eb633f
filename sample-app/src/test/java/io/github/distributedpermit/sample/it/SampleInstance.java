package io.github.distributedpermit.sample.it;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An instance of the sample in a JVM of its own. */
final class SampleInstance implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(5);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(90);
    private static final Pattern LISTENS = Pattern.compile("Tomcat started on port (\\d+)");

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final Process process;
    private final Path output;
    private final CompletableFuture<Integer> port;

    private SampleInstance(Process process, Path output) {
        this.process = process;
        this.output = output;
        this.port = CompletableFuture.supplyAsync(this::awaitPort);
    }

    /** Begins to start an instance on a free port; its calls are sent once it listens. */
    static SampleInstance start(String name, String... settings) {
        return run(name, UnpackedSample.options(), settings);
    }

    /** The same with {@code java -jar} and the packaged application. */
    static SampleInstance startPackaged(String name, String... settings) {
        return run(name, UnpackedSample.packaged(), settings);
    }

    /** The same from what the build has processed ahead of time. */
    static SampleInstance startAheadOfTime(String name, String... settings) {
        List<String> options = new ArrayList<>(List.of("-Dspring.aot.enabled=true"));
        options.addAll(UnpackedSample.packaged());
        return run(name, options, settings);
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    static SampleInstance run(String name, List<String> options, String... settings) {
        List<String> command =
                new ArrayList<>(List.of(java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(options);
        command.addAll(List.of("--server.port=0", "--server.address=127.0.0.1"));
        command.add("--sample.clean-up.cron=-"); // no calls but those of the test
        command.addAll(List.of(settings));
        File output = Path.of("target", "it-" + name + ".log").toFile();
        try {
            return new SampleInstance(
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output)
                            .start(),
                    output.toPath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns when the instance listens, is well, and has answered each kind of request once: a first request loads many
     * classes, which may take as long as a test holds its permits.
     */
    void awaitWell() {
        port.join();
        await().atMost(Fleet.LONG).until(() -> health().equals("UP"));
        exportNow(0, "0s").join();
        gauge("holders");
    }

    CompletableFuture<Answer> export(long id, String hold) {
        return send("POST", "/reports/" + id + "?hold=" + hold);
    }

    CompletableFuture<Answer> exportNow(long id, String hold) {
        return send("POST", "/reports/" + id + "/now?hold=" + hold);
    }

    /** What the metric {@code distributed.permit.<name>} of the permit {@code report-export} says, 0 if unknown yet. */
    int gauge(String name) {
        Answer answer = get("/actuator/metrics/distributed.permit." + name + "?tag=name:report-export");
        return answer.status() == 200
                ? (int) answer.body().at("/measurements/0/value").asDouble()
                : 0;
    }

    String health() {
        return get("/actuator/health").text("status");
    }

    Answer get(String path) {
        return send("GET", path).join();
    }

    CompletableFuture<Answer> send(String method, String path) {
        return port.thenCompose(number -> HTTP.sendAsync(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + number + path))
                                .method(method, HttpRequest.BodyPublishers.ofString(""))
                                .timeout(CALL_TIMEOUT)
                                .build(),
                        BodyHandlers.ofString()))
                .thenApply(Answer::of);
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    int awaitEnd() {
        return process.onExit().join().exitValue();
    }

    String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            kill();
        }
    }

    private int awaitPort() {
        await().atMost(START_TIMEOUT)
                .until(() -> !process.isAlive() || LISTENS.matcher(output()).find());
        Matcher line = LISTENS.matcher(output());
        if (!line.find()) {
            throw new IllegalStateException("The instance did not start; see " + output.toAbsolutePath());
        }
        return Integer.parseInt(line.group(1));
    }
}
