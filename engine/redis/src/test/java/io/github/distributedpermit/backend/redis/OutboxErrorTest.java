package io.github.distributedpermit.backend.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.testsupport.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An error in the thread that sends a claim costs that claim, and none after it. */
class OutboxErrorTest extends RedisTest {

    private static final int STACK = 256 * 1024;
    private static final int ROUNDS = 40;
    private static final int DEPTHS = 600;

    private final RedisServer server = open(RedisServer.started());
    private final TestMember a = member(factory(server));
    private final List<CompletableFuture<Holding>> claims = new ArrayList<>();
    private int left;

    /** Each frame of an exhausted stack tries once more on its way back, so that the error comes at every point. */
    @Test
    void exhaustedStackEndsNoPermitsButItsOwn() throws Exception {
        a.queue("first", 1, 1);

        for (int i = 0; i < ROUNDS; i++) {
            left = DEPTHS;
            Thread deep = new Thread(null, this::exhaust, "deep", STACK);
            deep.start();
            deep.join();
            assertThat(TestMember.answer(a.store().claim(a.next("after-" + i, 1, 1, 1, true)))
                            .permits())
                    .isEqualTo(1);
        }

        CompletableFuture<Void> all = CompletableFuture.allOf(claims.toArray(CompletableFuture[]::new))
                .exceptionally(failure -> null);
        all.get(20, TimeUnit.SECONDS);
        assertThat(claims).hasSizeGreaterThan(ROUNDS);
    }

    private void exhaust() {
        try {
            descend(0);
        } catch (StackOverflowError e) {
            // the point of it
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
            // so the caller is told
        }
    }
}
