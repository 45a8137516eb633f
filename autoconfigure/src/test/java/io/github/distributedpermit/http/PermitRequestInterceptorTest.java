package io.github.distributedpermit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestTemplate;

/** The permit of a request of {@code RestClient} or {@code RestTemplate}: how long it is held, and who gets none. */
class PermitRequestInterceptorTest extends PartnerTest {

    private RestClient client;

    @BeforeEach
    void limitClient() {
        client = client(new PermitRequestInterceptor(permits, "partner"));
    }

    private RestClient client(PermitRequestInterceptor limit) {
        return RestClient.builder()
                .baseUrl(partner.url())
                .requestInterceptor(limit)
                .build();
    }

    static Stream<Named<Call>> ends() {
        return Stream.of(
                Named.of(
                        "body read",
                        c -> c.get().uri("/200?" + LENGTH).retrieve().body(byte[].class)),
                Named.of(
                        "no body wanted",
                        c -> c.get().uri("/200?" + LENGTH).retrieve().toBodilessEntity()),
                Named.of("no body sent", c -> c.get().uri("/204?0").retrieve().toBodilessEntity()),
                Named.of("head", c -> c.head().uri("/200?0").retrieve().toBodilessEntity()),
                Named.of("body not read", c -> c.get().uri("/200?" + LENGTH).exchange((request, answer) -> "x")),
                Named.of(
                        "function throws",
                        c -> assertThatExceptionOfType(IllegalStateException.class)
                                .isThrownBy(() -> c.get().uri("/200?" + LENGTH).exchange((request, answer) -> {
                                    throw new IllegalStateException();
                                }))),
                Named.of(
                        "partner's own 429",
                        c -> assertThatExceptionOfType(HttpClientErrorException.TooManyRequests.class)
                                .isThrownBy(
                                        () -> c.get().uri("/429?9").retrieve().body(String.class))),
                Named.of(
                        "no connection",
                        c -> assertThatExceptionOfType(ResourceAccessException.class)
                                .isThrownBy(() -> c.get()
                                        .uri("http://127.0.0.1:1/")
                                        .retrieve()
                                        .body(String.class))));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void permitIsFreeAgain(Call call) throws Exception {
        call.with(client);
        assertThat(inUse("partner")).isZero();
        call.with(client);
    }

    @Test
    void permitIsHeldUntilTheBodyIsReadToItsEnd() throws IOException {
        ClientHttpResponse answer = open(client);
        assertThat(inUse("partner")).isOne();
        InputStream body = answer.getBody();
        assertThat(body.readNBytes(LENGTH)).hasSize(LENGTH);
        assertThat(inUse("partner")).isOne();
        assertThat(body.read()).isNegative();
        assertThat(inUse("partner")).isZero();
        answer.close();
    }

    @Test
    void permitIsHeldUntilTheAnswerIsClosed() throws IOException {
        ClientHttpResponse answer = open(client);
        assertThat(answer.getBody().read()).isZero();
        assertThat(inUse("partner")).isOne();
        answer.close();
        assertThat(inUse("partner")).isZero();
        InputStream body = open(client).getBody();
        assertThat(body.read()).isZero();
        body.close();
        assertThat(inUse("partner")).isZero();
    }

    @Test
    void requestWithoutAPermitIsNotSent() throws Exception {
        try (Permit held = permits.acquire("partner")) {
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(() -> open(client));
            assertThat(partner.requests).hasValue(0);
        }
        open(client).close();
    }

    @Test
    void keyIsMadeFromTheRequest() throws Exception {
        RestClient each = client(new PermitRequestInterceptor(
                permits, "partner", request -> "partner-" + request.getURI().getHost()));
        try (ClientHttpResponse answer = open(each)) {
            assertThat(answer.getStatusCode().value()).isEqualTo(200);
            assertThat(permits.named("partner").state("partner-127.0.0.1").inUse())
                    .isOne();
            assertThat(inUse("partner")).isZero();
        }
    }

    @Test
    void restTemplateIsLimited() throws Exception {
        RestTemplate template = new RestTemplate();
        template.setInterceptors(List.of(new PermitRequestInterceptor(permits, "partner")));
        String url = partner.url() + "/200?9";
        assertThat(template.getForObject(url, byte[].class)).hasSize(9);
        assertThat(template.<Integer>execute(
                        url, org.springframework.http.HttpMethod.GET, null, answer -> inUse("partner")))
                .isOne();
        assertThat(inUse("partner")).isZero();
    }

    @Test
    void interruptEndsTheWait() throws Exception {
        RestClient patient = client(new PermitRequestInterceptor(permits, "patient"));
        AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        try (Permit held = permits.acquire("patient")) {
            Thread waiting = new Thread(() -> {
                try {
                    open(patient);
                } catch (RuntimeException e) {
                    thrown.set(e);
                    flag.set(Thread.currentThread().isInterrupted());
                }
            });
            waiting.start();
            await().until(() -> permits.state("patient").waiting() == 1);
            waiting.interrupt();
            waiting.join();
        }
        assertThat(thrown.get()).isInstanceOf(PermitInterruptedException.class);
        assertThat(flag).hasValue(true);
    }

    @Test
    void permitsOfAbandonedAnswersComeBack() {
        RestClient many = client(new PermitRequestInterceptor(permits, "many"));
        for (int i = 0; i < 1000; i++) {
            open(many);
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> {
            System.gc();
            return inUse("many") == 0;
        });
    }

    private static ClientHttpResponse open(RestClient client) {
        return Objects.requireNonNull(client.get().uri("/200?" + LENGTH).exchange((request, answer) -> answer, false));
    }

    interface Call {

        void with(RestClient client) throws Exception;
    }
}
