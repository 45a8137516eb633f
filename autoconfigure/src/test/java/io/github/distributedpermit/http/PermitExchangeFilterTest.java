package io.github.distributedpermit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

/** The permit of a request of {@code WebClient}: how long it is held, and who gets none. */
class PermitExchangeFilterTest extends PartnerTest {

    private WebClient client;

    @BeforeEach
    void limitClient() {
        client = client(new PermitExchangeFilter(permits, "partner"));
    }

    private WebClient client(PermitExchangeFilter limit) {
        return WebClient.builder()
                .baseUrl(partner.url())
                .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(2 * LENGTH))
                .filter(limit)
                .build();
    }

    static Stream<Named<Call>> ends() {
        return Stream.of(
                Named.of(
                        "body read",
                        c -> get(c, LENGTH).bodyToMono(byte[].class).block()),
                Named.of(
                        "no body wanted", c -> get(c, LENGTH).toBodilessEntity().block()),
                Named.of(
                        "no body sent",
                        c -> c.get().uri("/204?0").retrieve().toBodilessEntity().block()),
                Named.of(
                        "body not read",
                        c -> c.get()
                                .uri("/200?" + LENGTH)
                                .exchangeToMono(answer -> Mono.just("x"))
                                .block()),
                Named.of(
                        "body cancelled",
                        c -> get(c, LENGTH)
                                .bodyToFlux(DataBuffer.class)
                                .doOnNext(DataBufferUtils::release)
                                .next()
                                .then()
                                .block()),
                Named.of(
                        "function throws",
                        c -> assertThatExceptionOfType(IllegalStateException.class)
                                .isThrownBy(() -> c.get()
                                        .uri("/200?" + LENGTH)
                                        .exchangeToMono(answer -> {
                                            throw new IllegalStateException();
                                        })
                                        .block())),
                Named.of(
                        "partner's own 503",
                        c -> assertThatExceptionOfType(WebClientResponseException.ServiceUnavailable.class)
                                .isThrownBy(() -> c.get()
                                        .uri("/503?9")
                                        .retrieve()
                                        .bodyToMono(String.class)
                                        .block())),
                Named.of(
                        "no connection",
                        c -> assertThatExceptionOfType(WebClientRequestException.class)
                                .isThrownBy(() -> c.get()
                                        .uri("http://127.0.0.1:1/")
                                        .retrieve()
                                        .toBodilessEntity()
                                        .block())),
                Named.of("request cancelled", c -> {
                    CountDownLatch sent = new CountDownLatch(1);
                    Disposable request = c.mutate()
                            .filter((each, next) -> next.exchange(each).doOnSubscribe(begun -> sent.countDown()))
                            .build()
                            .get()
                            .uri("/200?" + LENGTH)
                            .retrieve()
                            .toBodilessEntity()
                            .subscribe();
                    sent.await();
                    request.dispose();
                }));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void permitIsFreeAgain(Call call) throws Exception {
        call.with(client);
        call.with(client);
        await().until(() -> inUse("partner") == 0);
    }

    @Test
    void permitIsHeldWhileTheBodyFlows() {
        Integer seen = get(client, LENGTH)
                .bodyToFlux(DataBuffer.class)
                .doOnNext(DataBufferUtils::release)
                .map(part -> inUse("partner"))
                .reduce(Math::min)
                .block();
        assertThat(seen).isOne();
        await().until(() -> inUse("partner") == 0);
    }

    @Test
    void requestWithoutAPermitIsNotSent() throws Exception {
        try (Permit held = permits.acquire("partner")) {
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> get(client, 9).toBodilessEntity().block());
            assertThat(partner.requests).hasValue(0);
        }
    }

    @Test
    void waitingRequestsNeedNoThreadAndLeaveWhenCancelled() throws Exception {
        WebClient patient = client(new PermitExchangeFilter(permits, "patient"));
        List<Disposable> waiting = new ArrayList<>();
        List<Throwable> dropped = new ArrayList<>();
        Mono<Integer> last;
        try (Permit held = permits.acquire("patient")) {
            for (int i = 0; i < 500; i++) {
                waiting.add(get(patient, 9).toBodilessEntity().subscribe());
            }
            assertThat(permits.state("patient").waiting()).isPositive();
            Hooks.onErrorDropped(dropped::add); // otherwise each would be an error in the log
            waiting.forEach(Disposable::dispose);
            assertThat(permits.state("patient").waiting()).isZero();
            assertThat(dropped).isEmpty();
            last = get(patient, 9).bodyToMono(byte[].class).map(body -> body.length);
            last = Mono.fromFuture(last.toFuture());
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertThat(last.block()).isEqualTo(9);
        assertThat(partner.requests).hasValue(1);
    }

    @Test
    void everyAttemptTakesAPermitOfItsOwn() {
        WebClient repeating = client.mutate()
                .filters(filters -> filters.add(
                        0,
                        (request, next) -> next.exchange(request)
                                .flatMap(answer -> answer.statusCode().isError()
                                        ? answer.releaseBody().then(Mono.error(new IllegalStateException()))
                                        : Mono.just(answer))
                                .retry(2)))
                .build();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> repeating
                        .get()
                        .uri("/503?9")
                        .retrieve()
                        .toBodilessEntity()
                        .block());
        assertThat(partner.requests).hasValue(3);
        await().until(() -> inUse("partner") == 0);
    }

    @Test
    void permitsOfAbandonedAnswersComeBack() {
        ConnectionProvider connections = ConnectionProvider.create("many", 50); // each answer occupies one
        WebClient many = client(new PermitExchangeFilter(permits, "many"))
                .mutate()
                .clientConnector(new ReactorClientHttpConnector(HttpClient.create(connections)))
                .build();
        for (int i = 0; i < 50; i++) {
            get(many, 9).toEntityFlux(DataBuffer.class).block();
        }
        connections.disposeLater().block(); // an open connection may refer to its last answer
        await().atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofSeconds(2))
                .until(() -> {
                    System.gc();
                    return inUse("many") == 0;
                });
    }

    private static WebClient.ResponseSpec get(WebClient client, int length) {
        return client.get().uri("/200?" + length).retrieve();
    }

    interface Call {

        void with(WebClient client) throws Exception;
    }
}
