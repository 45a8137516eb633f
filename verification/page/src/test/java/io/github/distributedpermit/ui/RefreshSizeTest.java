package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** What one refresh of a page costs with many permits, many calls and many pages: bytes are bounded; times are printed. */
class RefreshSizeTest {

    private static final int PAGES = 10;

    @Test
    void answersAreSmallWithAThousandPermitsAndFiveThousandWaitingCalls() {
        LocalPermitBackend store = new LocalPermitBackend();
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Workers.class)
                .web(WebApplicationType.SERVLET)
                .initializers((GenericApplicationContext each) -> each.registerBean(PermitBackend.class, () -> store))
                .properties("server.port=0", "server.address=127.0.0.1", "spring.main.banner-mode=off")
                .properties("server.shutdown=immediate", "spring.lifecycle.timeout-per-shutdown-phase=100ms")
                .properties("management.endpoints.web.exposure.include=permits,permitsui")
                .properties("distributed-permit.permits.report-export.limit=12")
                .properties(IntStream.range(1, 1_000)
                        .mapToObj("distributed-permit.permits.job-%04d.limit=3"::formatted)
                        .toArray(String[]::new))
                .run()) {
            Workers workers = context.getBean(Workers.class);
            workers.work(12 + 4_000);
            IntStream.range(1, 1_000).forEach(i -> {
                String job = "job-%04d".formatted(i);
                IntStream.range(0, 4).forEach(each -> workers.hold(job, job));
            });
            await().atMost(Duration.ofSeconds(30)).until(() -> workers.waiting() == 4_999);

            refresh(context, "/list?filter=&from=0"); // the first one loads classes
            assertThat(refresh(context, "/list?filter=&from=50")).isBetween(5_000, 50_000);
            refresh(context, "/permit?name=report-export");
            assertThat(refresh(context, "/permit?name=report-export")).isBetween(5_000, 50_000);
        }
    }

    /** Of all pages at once; returns the bytes of one answer. */
    private static int refresh(ConfigurableApplicationContext context, String path) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/actuator/permitsui" + path))
                .build();
        long begin = System.nanoTime();
        List<CompletableFuture<HttpResponse<byte[]>>> answers = IntStream.range(0, PAGES)
                .mapToObj(i -> client.sendAsync(request, BodyHandlers.ofByteArray()))
                .toList();
        int bytes = answers.stream()
                .map(CompletableFuture::join)
                .mapToInt(answer -> {
                    assertThat(answer.statusCode()).isEqualTo(200);
                    return answer.body().length;
                })
                .max()
                .orElseThrow();
        System.out.printf(
                "%s: %d bytes, %d pages in %d ms%n", path, bytes, PAGES, (System.nanoTime() - begin) / 1_000_000);
        return bytes;
    }
}
