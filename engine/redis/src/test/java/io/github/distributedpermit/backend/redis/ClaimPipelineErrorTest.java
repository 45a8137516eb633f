package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** An error in the thread that sends a claim fails that claim, and none after it. */
class ClaimPipelineErrorTest extends RedisTest {

    private static final int STACK = 256 * 1024;
    private static final int ROUNDS = 8;
    private static final int DEPTHS = 600;

    private final RedisServer server = open(RedisServer.started());
    private final TestMember a = member(factory(server));
    private final List<CompletableFuture<Holding>> claims = new ArrayList<>();
    private int left;

    /** Each frame of an exhausted stack claims once when it returns, so that the error occurs at every point. */
    @Test
    void exhaustedStackEndsNoPermitsButItsOwn() throws Exception {
        a.queue("first", 1, 1);

        for (int i = 0; i < ROUNDS; i++) {
            left = DEPTHS;
            Thread deep = new Thread(null, this::exhaust, "deep", STACK);
            deep.start();
            deep.join();
            String after = "after-" + i;
            // the error may have removed a command inside Lettuce; its time-out ends it
            await().atMost(Duration.ofSeconds(60)).until(() -> isGranted(after));
        }

        assertThat(claims).hasSizeGreaterThan(ROUNDS);
    }

    private boolean isGranted(String key) throws InterruptedException {
        CompletableFuture<Holding> claim =
                a.store().claim(a.next(key, 1, 1, 1, true)).toCompletableFuture();
        try {
            return claim.get(2, TimeUnit.SECONDS).permits() == 1;
        } catch (ExecutionException | TimeoutException e) {
            claim.cancel(false);
            return false;
        }
    }

    private void exhaust() {
        try {
            descend(0);
        } catch (StackOverflowError e) {
            // expected
        }
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is exhausted
    private int descend(int depth) {
        try {
            return descend(depth + 1) + 1;
        } catch (StackOverflowError e) {
            if (left > 0) {
                left--;
                claim();
            }
            throw e;
        }
    }

    private void claim() {
        try {
            claims.add(a.store().claim(a.next("deep", 1, 1, 1, true)).toCompletableFuture());
        } catch (StackOverflowError e) {
            // the caller gets the error
        }
    }
}
