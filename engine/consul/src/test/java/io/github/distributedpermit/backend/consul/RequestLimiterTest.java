package io.github.distributedpermit.backend.consul;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RequestLimiterTest {

    private final RequestLimiter limiter = new RequestLimiter(1);

    @Test
    void resultArrivesAlthoughTheNextTaskThrows() {
        CompletableFuture<String> answer = new CompletableFuture<>();
        CompletableFuture<String> first = limiter.enter(() -> answer);
        CompletableFuture<String> second = limiter.enter(RequestLimiterTest::fullStack);

        answer.complete("first");

        assertThat(first).isCompletedWithValue("first");
        assertThat(second).isCompletedExceptionally();
    }

    @Test
    void taskThatThrowsLeavesItsPlaceToTheNext() {
        CompletableFuture<String> first = limiter.enter(RequestLimiterTest::fullStack);

        CompletableFuture<String> second = limiter.enter(() -> CompletableFuture.completedFuture("second"));

        assertThat(first).isCompletedExceptionally();
        assertThat(second).isCompletedWithValue("second");
    }

    private static CompletableFuture<String> fullStack() {
        throw new StackOverflowError("made by the test");
    }
}
