package io.github.distributedpermit.aop.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** One consumer, whose container is the test. */
class ListenerPermitsTest {

    @Test
    void permitThatIsLostBeforeItsMessageIsDeliveredAgainIsTakenAnew() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(DistributedPermitAutoConfiguration.class))
                .withPropertyValues("distributed-permit.backend=local", "distributed-permit.permits.one.limit=1")
                .run(context -> {
                    Permits permits = context.getBean(Permits.class);
                    ListenerPermits consumer = new ListenerPermits(Duration.ofHours(1)); // nothing is unclaimed
                    Call call = new Call(permits);
                    Permit held = permits.acquire("one");
                    assertThatExceptionOfType(PermitPendingException.class).isThrownBy(() -> consumer.invoke(call));
                    held.release();

                    call.asked.join().release(); // not held any more, as after a loss
                    Permit other = permits.acquire("one");
                    assertThatExceptionOfType(PermitPendingException.class).isThrownBy(() -> consumer.invoke(call));
                    other.release();

                    call.asked.join();
                    assertThat(consumer.invoke(call)).isEqualTo("held: true");
                    await().until(() -> isFree(permits));
                });
    }

    private static boolean isFree(Permits permits) throws InterruptedException {
        Optional<Permit> permit = permits.tryAcquire("one");
        permit.ifPresent(Permit::release);
        return permit.isPresent();
    }

    private static final class Call implements LimitedCall {

        private final Permits permits;
        private CompletableFuture<PermitGroup> asked = new CompletableFuture<>();

        Call(Permits permits) {
            this.permits = permits;
        }

        @Override
        public Object proceed() {
            return "held: " + Permits.current("one").orElseThrow().isHeld();
        }

        @Override
        public Acquisition acquire(@Nullable PermitBundle outer) {
            asked = permits.acquireAllAsync(requests());
            return new Acquisition(asked, group -> new PermitBundle(group.permits()), failure -> {
                throw failure;
            });
        }

        @Override
        public Object whileHolding(Work work, Answered answered) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<PermitRequest> requests() {
            return List.of(PermitRequest.of("one"));
        }

        @Override
        public String description() {
            return "call";
        }
    }
}
