package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/** Head starts of annotated methods. */
@Timeout(60)
class HeadStartsTest {

    private final ApplicationContextRunner runner = local().withBean(Mails.class);

    @Test
    void urgentCallsOfAllKindsAreServedFirst() {
        runner.withConfiguration(AutoConfigurations.of(
                        io.github.distributedpermit.autoconfigure.DistributedPermitMetricsAutoConfiguration.class))
                .withBean(SimpleMeterRegistry.class)
                .run(context -> {
                    List<String> sent = sent(context);
                    assertThat(sent)
                            .containsExactly(
                                    "mono, 40s", "future, 30s", "code, 20s", "thread, 10s", "bulk 1", "bulk 2");
                    assertThat(context.getBean(SimpleMeterRegistry.class)
                                    .get("distributed.permit.head.start.overtakes")
                                    .tag("name", "smtp")
                                    .counter()
                                    .count())
                            .isEqualTo(2 + 3 + 4 + 5);
                });
    }

    @Test
    void aSettingWinsOverTheAnnotation() {
        runner.withPropertyValues("distributed-permit.permits.smtp.head-start=0s")
                .run(context -> assertThat(sent(context))
                        .as("the request in code says it itself")
                        .containsExactly("code, 20s", "bulk 1", "bulk 2", "thread, 10s", "future, 30s", "mono, 40s"));
    }

    /** The order in which calls were served that had to wait for one permit. */
    private static List<String> sent(ApplicationContext context) throws Exception {
        Mails mails = context.getBean(Mails.class);
        Permits permits = context.getBean(Permits.class);
        Permit held = permits.acquire("smtp");
        CompletableFuture<?>[] calls = {
            onThread(() -> mails.send("bulk 1", "0s")),
            waiting(permits, 1, () -> onThread(() -> mails.send("bulk 2", "0s"))),
            waiting(permits, 2, () -> onThread(() -> mails.send("thread, 10s", "10s"))),
            waiting(
                    permits,
                    3,
                    () -> permits.named("smtp")
                            .acquireAsync(PermitRequest.builder("smtp")
                                    .headStart(java.time.Duration.ofSeconds(20))
                                    .build())
                            .thenAccept(permit -> {
                                mails.sent().add("code, 20s");
                                permit.release();
                            })),
            waiting(permits, 4, () -> mails.sendLater("future, 30s")),
            waiting(permits, 5, () -> mails.sendMono("mono, 40s", 40).toFuture())
        };
        await().until(() -> permits.state("smtp").waiting() == 6);
        held.release();
        CompletableFuture.allOf(calls).get(30, TimeUnit.SECONDS);
        return mails.sent();
    }

    private static CompletableFuture<?> waiting(
            Permits permits, int others, java.util.function.Supplier<CompletableFuture<?>> call) {
        await().until(() -> permits.state("smtp").waiting() == others);
        return call.get();
    }

    private static CompletableFuture<?> onThread(Runnable call) {
        return CompletableFuture.runAsync(call, task -> new Thread(task).start());
    }

    @Test
    void aValueThatIsNoHeadStartEndsTheCall() {
        runner.run(context -> {
            Mails mails = context.getBean(Mails.class);
            for (String wrong : List.of("soon", "-1s", "61m")) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> mails.send("never", wrong))
                        .withMessageContaining("Mails.send(")
                        .withMessageContaining("headStart '" + wrong + "'");
            }
            assertThat(mails.sent()).isEmpty();
        });
    }

    static class Mails {

        private final List<String> sent = new CopyOnWriteArrayList<>();

        public List<String> sent() {
            return sent;
        }

        @DistributedPermit(key = "smtp", limit = 1, headStart = "#{#ahead}")
        public void send(String text, String ahead) {
            sent.add(text);
        }

        @DistributedPermit(key = "smtp", limit = 1, headStart = "${ahead:30s}")
        public CompletableFuture<?> sendLater(String text) {
            sent.add(text);
            return CompletableFuture.completedFuture(text);
        }

        @DistributedPermit(key = "smtp", limit = 1, headStart = "#{#seconds}s")
        public Mono<String> sendMono(String text, int seconds) {
            return Mono.fromSupplier(() -> {
                sent.add(text);
                return text;
            });
        }
    }
}
