package io.github.distributedpermit.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Pages whose browser does not read any more, which blocks the thread that writes, as a supplier that does not return. */
class StalledStreamsTest {

    @Test
    void doNotKeepOtherPagesFromBeingServed() throws Exception {
        ServletEventStreams streams = new ServletEventStreams(StateFormat.OF_APPLICATION);
        CountDownLatch stalled = new CountDownLatch(EventStreams.MOST - 1);
        CountDownLatch ever = new CountDownLatch(1);
        CountDownLatch served = new CountDownLatch(1);
        try {
            for (int i = 1; i < EventStreams.MOST; i++) {
                streams.stream(() -> {
                    stalled.countDown();
                    await(ever);
                    return state();
                });
            }
            streams.stream(() -> {
                served.countDown();
                return state();
            });

            assertThat(served.await(20, TimeUnit.SECONDS))
                    .as("the page that reads")
                    .isTrue();
            assertThat(stalled.await(20, TimeUnit.SECONDS))
                    .as("each of the others")
                    .isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> streams.stream(StalledStreamsTest::state))
                    .withMessageContaining("live pages");
        } finally {
            ever.countDown();
            streams.destroy();
        }
    }

    private static LiveState state() {
        return new LiveState(Instant.EPOCH, false, List.of(), null);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
