package io.github.distributedpermit.autoconfigure;

import static io.github.distributedpermit.autoconfigure.Starts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.NamedPermits;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.core.engine.PermitEngine;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;

/** What calls in code may get wrong at run time: told at once, and nothing is held or kept for it. */
@SuppressWarnings("NullAway") // callers need not be null-marked
class BadCallsTest {

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " ", "\t\n"})
    void keyWithoutTextIsRefused(String key) {
        with(permits -> {
            NamedPermits named = permits.named("export");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> named.acquire(key))
                    .withMessageContaining("key");
            assertThatIllegalArgumentException().isThrownBy(() -> named.tryAcquire(key));
            assertThatIllegalArgumentException().isThrownBy(() -> PermitRequest.of(key));
            assertThatIllegalArgumentException().isThrownBy(() -> permits.acquire(key));
            assertThatIllegalArgumentException().isThrownBy(() -> permits.acquireAsync(key));
        });
    }

    @Test
    void textOfNullIsAKeyLikeAnyOther() {
        whileHeld(permits -> {
            try (Permit one = permits.named("export").acquire("null");
                    Permit two = permits.named("export").acquire("null")) {
                assertThat(one.isHeld() && two.isHeld()).isTrue();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, 3, Integer.MAX_VALUE})
    void permitsOutOfRangeAreRefusedAtOnce(int permits) {
        with(all -> assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        all.named("export").acquire(PermitRequest.of("export").withPermits(permits)))
                .withMessageContaining(Integer.toString(permits)));
    }

    @Test
    void timeoutBelowZeroIsRefusedAndAHugeOneIsNot() {
        whileHeld(permits -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.acquire("export", Duration.ofMillis(-1)))
                    .withMessageContaining("negative");
            try (Permit permit = permits.acquire("export", Duration.ofSeconds(Long.MAX_VALUE))) {
                assertThat(permit.isHeld()).isTrue();
            }
        });
    }

    @Test
    void callerInterruptedBeforehandTakesNothing() {
        with(permits -> {
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> permits.acquire("export"));
            assertThat(Thread.interrupted()).as("as Semaphore does").isFalse();
            Thread.currentThread().interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> permits.tryAcquire("export"));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\r\nWARN forged", "\u0000\u001b[31mred", "a\u2028b\u0085c"})
    void messagesShowNoControlCharactersOfAKey(String key) {
        whileHeld(permits -> {
            NamedPermits named = permits.named("export");
            try (Permit one = named.acquire(PermitRequest.of(key).withPermits(2))) {
                assertThat(one.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> named.acquire(PermitRequest.of(key).withoutWaiting()))
                        .satisfies(e -> {
                            assertThat(e.key()).isEqualTo(key);
                            assertThat(e.getMessage()).doesNotMatch("(?s).*[\\p{Cntrl}\u0085\u2028].*");
                        });
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> permits.named(key))
                    .satisfies(e -> assertThat(e.getMessage()).doesNotMatch("(?s).*[\\p{Cntrl}\u0085\u2028].*"));
        });
    }

    @Test
    void longKeyIsCutInMessages() {
        whileHeld(permits -> {
            String key = "k".repeat(10_000);
            try (Permit one =
                    permits.named("export").acquire(PermitRequest.of(key).withPermits(2))) {
                assertThat(one.isHeld()).isTrue();
                assertThatExceptionOfType(PermitRejectedException.class)
                        .isThrownBy(() -> permits.named("export")
                                .acquire(PermitRequest.of(key).withoutWaiting()))
                        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
            }
        });
    }

    private static void with(Calls calls) {
        with("1500ms", calls);
    }

    /** With a lease that does not end between two statements of a test. */
    private static void whileHeld(Calls calls) {
        with("15s", calls);
    }

    private static void with(String lease, Calls calls) {
        ContextConsumer<AssertableApplicationContext> consumer = context -> {
            calls.run(context.getBean(Permits.class));
            await().until(() -> context.getBean(PermitEngine.class).keys() == 0);
        };
        local().withPropertyValues(
                        "distributed-permit.permits.export.limit=2",
                        // the core drops the queue of an unused key after a fifth of the lease
                        "distributed-permit.lease=" + lease)
                .run(consumer);
    }

    @FunctionalInterface
    private interface Calls {
        void run(Permits permits) throws Exception;
    }
}
