package io.github.distributedpermit.web;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A web application with the local backend, on a free port of the loopback address. */
final class WebServer implements AutoCloseable {

    /** Until nine tenths of it have passed, calls wait as before; then those that wait are rejected, and answered in the last tenth. */
    static final String SHORT_DRAIN = "spring.lifecycle.timeout-per-shutdown-phase=12s";

    private static final int ROUNDS = 8;
    private static final int AT_A_TIME = 24;

    private final WebApplicationType type;
    private final Class<?> application;
    private final String[] properties;
    private final HttpClient client = HttpClient.newHttpClient();
    private @Nullable ConfigurableApplicationContext context;

    WebServer(WebApplicationType type, Class<?> application, String... properties) {
        this.type = type;
        this.application = application;
        this.properties = properties.clone();
    }

    void start() {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "server.address=127.0.0.1",
                "server.shutdown=graceful",
                "distributed-permit.backend=local",
                "spring.autoconfigure.exclude="
                        + "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                        + "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration",
                "spring.cloud.consul.enabled=false",
                "spring.main.banner-mode=off"));
        all.addAll(List.of(properties));
        context = new SpringApplicationBuilder(application)
                .web(type)
                .properties(all.toArray(String[]::new))
                .run();
    }

    private ConfigurableApplicationContext context() {
        return Objects.requireNonNull(context);
    }

    <T> T bean(Class<T> wanted) {
        return context().getBean(wanted);
    }

    CompletableFuture<HttpResponse<String>> get(String path) {
        return get(path, "*/*");
    }

    CompletableFuture<HttpResponse<String>> get(String path, String accept) {
        String port = context().getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Accept", accept)
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    /** The statuses of many requests, so many at a time as a server lets connect at once. */
    Set<Integer> statuses(String... paths) throws Exception {
        Set<Integer> statuses = new TreeSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < AT_A_TIME; i++) {
                answers.add(get(paths[i % paths.length]));
            }
            for (CompletableFuture<HttpResponse<String>> each : answers) {
                statuses.add(each.get(60, TimeUnit.SECONDS).statusCode());
            }
        }
        return statuses;
    }

    Permit acquire(String key) throws InterruptedException {
        return bean(Permits.class).named("web-name").acquire(key);
    }

    boolean isFree(String key) {
        try {
            Optional<Permit> permit = bean(Permits.class).named("web-name").tryAcquire(key);
            permit.ifPresent(Permit::release);
            return permit.isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        if (context != null) {
            context.close();
        }
    }
}
