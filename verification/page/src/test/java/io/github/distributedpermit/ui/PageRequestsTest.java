package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.page.Workers;
import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.PermitBackend;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Requests to the page that do not come from it: clients without an {@code Accept} header, and paths that do not exist. */
class PageRequestsTest {

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static ConfigurableApplicationContext instance(WebApplicationType type, String... others) {
        LocalPermitBackend store = new LocalPermitBackend();
        return new SpringApplicationBuilder(Workers.class)
                .web(type)
                .initializers((GenericApplicationContext each) -> each.registerBean(PermitBackend.class, () -> store))
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "spring.lifecycle.timeout-per-shutdown-phase=100ms",
                        "spring.main.banner-mode=off",
                        "distributed-permit.permits.report-export.limit=12",
                        "management.endpoints.web.exposure.include=permits,permitsui")
                .run(Stream.of(others).map("--"::concat).toArray(String[]::new));
    }

    private <T> HttpResponse<T> get(
            ConfigurableApplicationContext context, String path, HttpResponse.BodyHandler<T> body) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        URI uri = URI.create("http://127.0.0.1:" + port + "/actuator/permitsui" + path);
        return client.send(HttpRequest.newBuilder(uri).build(), body);
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void areAnsweredWithoutAnAcceptHeader(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = instance(type)) {
            context.getBean(Workers.class).work(1);
            HttpResponse<String> names = get(context, "/list", BodyHandlers.ofString());
            assertThat(names.statusCode()).as(names.body()).isEqualTo(200);
            assertThat(names.body()).contains("\"permits\":[", "report-export");
            assertThat(get(context, "", BodyHandlers.ofString()).statusCode()).isEqualTo(200);
            assertThat(get(context, "/app.js", BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);

            HttpResponse<String> state = get(context, "/permit?name=report-export", BodyHandlers.ofString());
            assertThat(state.statusCode()).isEqualTo(200);
            assertThat(state.headers().firstValue("content-type").orElse("")).startsWith("application/json");
            assertThat(state.body()).contains("\"limitSource\":\"settings\"", "\"now\":\"20");
        }
    }

    /** The page reads the names of fields that the endpoint documents. */
    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void areAnsweredTheSameWhateverTheApplicationSetsForJackson(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = instance(
                type,
                "spring.jackson.property-naming-strategy=UPPER_SNAKE_CASE",
                "spring.jackson.datatype.datetime.write-dates-as-timestamps=true",
                "spring.jackson.default-property-inclusion=non-empty",
                "distributed-permit.permits[größe].limit=1")) {
            context.getBean(Workers.class).work(1);
            assertThat(get(context, "/list", BodyHandlers.ofString()).body())
                    .contains("\"permits\":[", "\"größe\"", "\"now\":\"20", "\"writable\":false");
            assertThat(get(context, "/permit?name=report-export", BodyHandlers.ofString())
                            .body())
                    .contains("\"limitSource\":\"settings\"", "\"now\":\"20", "\"since\":\"20");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void areRefusedIfThereIsNoSuchPath(WebApplicationType type) throws Exception {
        try (ConfigurableApplicationContext context = instance(type)) {
            for (String path : new String[] {"/list/all", "/other/report-export", "/other.js", "/..%2f..%2fetc"}) {
                assertThat(get(context, path, BodyHandlers.ofString()).statusCode())
                        .as(path)
                        .isBetween(400, 404);
            }
        }
    }
}
