package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitGroup;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** The permits of several keys for one call that blocks no thread. */
@Timeout(120)
class SeveralPermitsAsyncTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final List<PermitRequest> A_AND_B = List.of(PermitRequest.of("b"), PermitRequest.of("a"));

    private final ApplicationContextRunner runner =
            local().withPropertyValues("distributed-permit.permits.a.limit=1", "distributed-permit.permits.b.limit=1");

    @Test
    void permitsComeOneAfterTheOtherInTheOrderOfTheirKeys() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit a = permits.acquire("a");
            CompletableFuture<PermitGroup> both = permits.acquireAllAsync(A_AND_B);
            await().until(() -> permits.state("a").waiting() == 1);
            assertThat(isFree(context, "b")).isTrue();
            a.release();
            try (PermitGroup group = both.get(20, TimeUnit.SECONDS)) {
                assertThat(group.permits()).extracting(Permit::key).containsExactly("a", "b");
                assertThat(group.isHeld()).isTrue();
                assertThat(isFree(context, "a")).isFalse();
                assertThat(isFree(context, "b")).isFalse();
            }
            assertThat(isFree(context, "a")).isTrue();
            assertThat(isFree(context, "b")).isTrue();
        });
    }

    @Test
    void callThatDoesNotGetAllGivesBackWhatItHas() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            PermitRequest a = PermitRequest.of("a");
            try (Permit taken = permits.acquire("b")) {
                assertThat(permits.acquireAllAsync(
                                List.of(a, PermitRequest.of("b").withoutWaiting())))
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .withCauseInstanceOf(PermitRejectedException.class);
                assertThat(isFree(context, "a")).isTrue();
                assertThat(permits.acquireAllAsync(List.of(a, PermitRequest.of("unknown"))))
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .withCauseInstanceOf(IllegalArgumentException.class);
                assertThat(isFree(context, "a")).isTrue();
                assertThat(permits.acquireAllAsync(
                                List.of(a, PermitRequest.of("b").withPermits(2))))
                        .failsWithin(SOON)
                        .withThrowableThat()
                        .withCauseInstanceOf(IllegalArgumentException.class);
                assertThat(isFree(context, "a")).isTrue();
                assertThat(taken.isHeld()).isTrue();
            }
        });
    }

    @Test
    void cancelledCallLeavesTheQueueAndGivesBackWhatItHas() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit taken = permits.acquire("b")) {
                CompletableFuture<PermitGroup> both = permits.acquireAllAsync(A_AND_B);
                await().until(() -> permits.state("b").waiting() == 1);
                assertThat(isFree(context, "a")).isFalse();
                both.cancel(false);
                await().until(() -> isFree(context, "a"));
                await().until(() -> permits.state("b").waiting() == 0);
                assertThat(taken.isHeld()).isTrue();
            }
            assertThat(isFree(context, "b")).isTrue();
        });
    }

    /** As with a time-out of the caller's own. */
    @Test
    void permitsThatComeAfterTheEndOfTheCallAreGivenBack() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            Permit taken = permits.acquire("b");
            CompletableFuture<PermitGroup> both = permits.acquireAllAsync(A_AND_B);
            await().until(() -> permits.state("b").waiting() == 1);
            both.completeExceptionally(new IllegalStateException("too late"));
            taken.release();
            await().until(() -> isFree(context, "a") && isFree(context, "b"));
        });
    }

    /** The permit that is missing may never come, as with a limit of 0 by an operator. */
    @Test
    void callThatEndsOtherwiseLeavesTheQueueAndGivesBackWhatItHas() {
        runner.run(context -> {
            Permits permits = context.getBean(Permits.class);
            try (Permit taken = permits.acquire("b")) {
                CompletableFuture<PermitGroup> both = permits.acquireAllAsync(A_AND_B);
                await().until(() -> permits.state("b").waiting() == 1);
                both.completeExceptionally(new IllegalStateException("too late"));
                await().until(() -> isFree(context, "a"));
                await().until(() -> permits.state("b").waiting() == 0);
                assertThat(taken.isHeld()).isTrue();
            }
        });
    }

    @Test
    void joinedPermitThatIsLostWhileTheCallWaitsIsTakenAnew() {
        runner.withBean(Joining.class).run(context -> {
            Permits permits = context.getBean(Permits.class);
            Joining joining = context.getBean(Joining.class);
            Permit b = permits.acquire("b");
            CompletableFuture<Boolean> both = joining.outer(joining.inner()).toFuture();
            await().until(() -> permits.state("b").waiting() == 1);

            joining.ofTheOuterCall().release(); // not held any more, as after a loss
            try (Permit other = permits.acquire("a")) {
                b.release();
                await().until(() -> permits.state("a").waiting() == 1);
                assertThat(isFree(context, "b")).isTrue();
                assertThat(other.isHeld()).isTrue();
            }

            assertThat(both).succeedsWithin(SOON).isEqualTo(true);
            assertThat(isFree(context, "a")).isTrue();
            assertThat(isFree(context, "b")).isTrue();
        });
    }

    static class Joining {

        private final CompletableFuture<Permit> ofTheOuterCall = new CompletableFuture<>();

        Permit ofTheOuterCall() {
            return ofTheOuterCall.join();
        }

        @DistributedPermit(key = "a", limit = 1)
        public Mono<Boolean> outer(Mono<Boolean> work) {
            ofTheOuterCall.complete(Permits.current().orElseThrow());
            return work;
        }

        /** Whether it has begun with its permits. */
        @DistributedPermit(key = "a", limit = 1, reentrant = true)
        @DistributedPermit(key = "b", limit = 1)
        public Mono<Boolean> inner() {
            return Mono.just(Permits.current("a").orElseThrow().isHeld()
                    && Permits.current("b").orElseThrow().isHeld());
        }
    }

    @Test
    void errorBetweenTwoPermitsLosesNeither() {
        RecordingPermits permits = new RecordingPermits() {
            @Override
            CompletableFuture<Permit> granted(Permit permit) {
                return requests.size() == 1 ? super.granted(permit) : new WithoutRoomForStages(permit);
            }
        };
        CompletableFuture<PermitGroup> both = permits.acquireAllAsync(A_AND_B);
        assertThat(both).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(StackOverflowError.class);
        assertThat(permits.events).contains("+a", "+b", "-a", "-b");
    }

    /** Comes with a permit as soon as a stage is added, which fails. */
    private static final class WithoutRoomForStages extends CompletableFuture<Permit> {

        private final Permit permit;

        WithoutRoomForStages(Permit permit) {
            this.permit = permit;
        }

        @Override
        public CompletableFuture<Permit> whenComplete(BiConsumer<? super Permit, ? super Throwable> action) {
            complete(permit);
            throw new StackOverflowError();
        }
    }

    @Test
    void anyNumberOfPermitsAtHandNeedsNoDeepStack() throws Exception {
        RecordingPermits permits = new RecordingPermits();
        List<PermitRequest> many = IntStream.range(0, 50_000)
                .mapToObj(i -> PermitRequest.of("key-" + i))
                .toList();
        try (PermitGroup group = permits.acquireAllAsync(many).get(60, TimeUnit.SECONDS)) {
            assertThat(group.permits()).hasSize(many.size());
        }
    }

    @Test
    void timeOutCountsFromTheBeginningOnTheClockOfThePermits() throws Exception {
        RecordingPermits permits = new RecordingPermits() {
            @Override
            public long nanoTime() {
                return TimeUnit.SECONDS.toNanos(5L * requests.size());
            }
        };
        List<PermitRequest> three = List.of(
                PermitRequest.of("a").withTimeout(SOON),
                PermitRequest.of("b").withTimeout(SOON),
                PermitRequest.of("c").withTimeout(Duration.ofSeconds(7)));
        permits.acquireAllAsync(three).get(20, TimeUnit.SECONDS).close();
        assertThat(permits.requests)
                .extracting(PermitRequest::timeout)
                .containsExactly(SOON, Duration.ofSeconds(15), Duration.ofNanos(1));
        permits.requests.clear();
        permits.acquireAll(three).close();
        assertThat(permits.requests)
                .extracting(PermitRequest::timeout)
                .containsExactly(SOON, Duration.ofSeconds(15), Duration.ofNanos(1));
    }
}
