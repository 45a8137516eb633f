package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.distributedpermit.PermitRejectedException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The endpoint has the security of the actuator: only an operator pauses a permit. */
class OperatorTest {

    private static final String PAUSE = "{\"key\": \"export\", \"limit\": 0}";

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void onlyAnOperatorReadsAndPausesPermits() throws Exception {
        try (ConfigurableApplicationContext application = start(true)) {
            Application.Exporter exporter = application.getBean(Application.Exporter.class);
            assertThat(exporter.export()).isEqualTo("exported");
            assertThat(send(application, "GET", "", null).statusCode()).isEqualTo(401);
            assertThat(send(application, "POST", PAUSE, null).statusCode()).isEqualTo(401);
            assertThat(send(application, "POST", PAUSE, "operator:wrong").statusCode())
                    .isEqualTo(401);
            assertThat(exporter.export()).isEqualTo("exported");

            assertThat(send(application, "POST", PAUSE, "operator:secret").statusCode())
                    .isEqualTo(200);

            assertThatThrownBy(exporter::export).isInstanceOf(PermitRejectedException.class);
            assertThat(send(application, "GET", "", "operator:secret").body()).contains("\"limitSource\":\"override\"");
        }
    }

    @Test
    void operatorChangesNothingUnlessThatIsEnabled() throws Exception {
        try (ConfigurableApplicationContext application = start(false)) {
            assertThat(send(application, "POST", PAUSE, "operator:secret").statusCode())
                    .isEqualTo(405);
            assertThat(application.getBean(Application.Exporter.class).export()).isEqualTo("exported");
        }
    }

    private static ConfigurableApplicationContext start(boolean writes) {
        return new SpringApplicationBuilder(Application.class)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.security.user.name=operator",
                        "--spring.security.user.password=secret",
                        "--spring.security.user.roles=OPERATOR",
                        "--distributed-permit.backend=local",
                        "--management.endpoint.permits.access=" + (writes ? "unrestricted" : "read-only"),
                        "--management.endpoints.web.exposure.include=permits");
    }

    private HttpResponse<String> send(
            ConfigurableApplicationContext application, String method, String body, String credentials)
            throws Exception {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/actuator/permits/export"))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (credentials != null) {
            request.header(
                    "Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes()));
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
