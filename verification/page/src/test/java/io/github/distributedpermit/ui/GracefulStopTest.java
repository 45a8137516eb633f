package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** An open live page does not delay the graceful stop of the web server. */
class GracefulStopTest {

    /** Less than the time-out of the phase, which a stream that stays open would use up. */
    private static final Duration BOUND = Duration.ofSeconds(20);

    private static ConfigurableApplicationContext instance(WebApplicationType type) {
        LocalPermitBackend store = new LocalPermitBackend();
        return new SpringApplicationBuilder(Workers.class)
                .web(type)
                .initializers((GenericApplicationContext each) -> each.registerBean(PermitBackend.class, () -> store))
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=graceful",
                        "spring.lifecycle.timeout-per-shutdown-phase=30s",
                        "spring.main.banner-mode=off",
                        "distributed-permit.permits.report-export.limit=12",
                        "management.endpoints.web.exposure.include=permits,permitsui")
                .run();
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void endsTheStreamOfAClientThatStays(WebApplicationType type) throws Exception {
        ConfigurableApplicationContext context = instance(type);
        URI events = URI.create("http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port")
                + "/actuator/permitsui/events/report-export");
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(events)
                .header("Accept", "text/event-stream")
                .build();
        CountDownLatch open = new CountDownLatch(1);
        CompletableFuture<HttpResponse<Void>> ended = client.sendAsync(
                request, BodyHandlers.ofByteArrayConsumer(part -> part.ifPresent(bytes -> open.countDown())));
        assertThat(open.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(ended).isNotDone();

        assertTimeoutPreemptively(BOUND, context::close);

        assertThat(ended.get(BOUND.toSeconds(), TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }
}
