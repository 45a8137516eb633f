package io.github.distributedpermit.benchmark.peers;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The few calls of Consul's HTTP interface that naive semaphores make, one after the other. Thread-safe. */
public final class ConsulHttp {

    private static final Pattern ID = Pattern.compile("\"ID\"\\s*:\\s*\"([^\"]+)\"");
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;

    /** An agent on the loopback interface. */
    public ConsulHttp(int port) {
        this.base = "http://127.0.0.1:" + port + "/v1/";
    }

    /** A new session that the agent does not check. */
    String session() throws IOException, InterruptedException {
        String body = "{\"TTL\": \"15s\", \"LockDelay\": \"0s\", \"Behavior\": \"delete\", \"NodeChecks\": []}";
        Matcher matcher = ID.matcher(put("session/create", body));
        if (!matcher.find()) {
            throw new IOException("Consul gave no session");
        }
        return matcher.group(1);
    }

    void destroy(String session) throws IOException, InterruptedException {
        put("session/destroy/" + session, "");
    }

    String put(String path, String body) throws IOException, InterruptedException {
        return send(request(path).PUT(HttpRequest.BodyPublishers.ofString(body)))
                .body();
    }

    void delete(String path) throws IOException, InterruptedException {
        send(request(path).DELETE());
    }

    /** A read; status 404 is an answer too. */
    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path).GET());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(TIMEOUT);
    }

    /** Once more if the pooled connection turns out to be dead: the JDK's client repeats nothing but GET by itself. */
    private HttpResponse<String> send(HttpRequest.Builder builder) throws IOException, InterruptedException {
        HttpRequest request = builder.build();
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (HttpTimeoutException e) {
            throw e;
        } catch (IOException e) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }
}
