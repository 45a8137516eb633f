package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.isFree;
import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.aop.async.PermitExecutors;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/** {@code holdAtLeast} of a call that joins the permit of its caller. */
class JoinedMinimumTest {

    @Test
    void callerHoldsThePermitForTheMinimumOfTheCallThatJoined() {
        afterwardsHeld(context -> context.getBean(Outer.class).call());
    }

    @Test
    void oneOfSeveralJoinedCallsIsEnough() {
        afterwardsHeld(context -> context.getBean(Outer.class).severalTimes());
    }

    @Test
    void workInCodeHoldsItsPermitForTheMinimumToo() {
        afterwardsHeld(context -> {
            Permits permits = context.getBean(Permits.class);
            permits.run("join", () -> context.getBean(Inner.class).joined());
        });
    }

    @Test
    void asynchronousCallerHoldsThePermitForTheMinimumOfAPlainCall() {
        afterwardsHeld(context -> context.getBean(Outer.class).future().join());
        afterwardsHeld(
                context -> context.getBean(Outer.class).monoWithAPlainCall().block());
    }

    @Test
    void callerHoldsTheOuterPermitThatACallHasJoined() {
        afterwardsHeld(context -> context.getBean(Outer.class).futureWithin().join());
        afterwardsHeld(context -> context.getBean(Outer.class).monoWithin().block());
    }

    @Test
    void taskOfAnExecutorHoldsTheOuterPermitThatACallHasJoined() {
        afterwardsHeld(context -> {
            Permits permits = context.getBean(Permits.class);
            PermitExecutors.limited(Runnable::run, permits.named("inner"))
                    .execute(context.getBean(Inner.class)::joined);
            await().until(() -> permits.state("inner").inUse() == 0);
        });
    }

    @Test
    void subscriberHoldsThePermitForTheMinimumOfAnInnerMono() {
        afterwardsHeld(context -> context.getBean(Outer.class).mono().block());
    }

    @Test
    void callWithoutAMinimumLeavesThePermitAtTheEndOfItsCaller() {
        local().withBean(Inner.class).withBean(Outer.class).run(context -> {
            context.getBean(Outer.class).withoutAMinimum();
            assertThat(isFree(context, "join")).isTrue();
        });
    }

    /** The permit is not free after this, until the application does not wait for minimum times any more. */
    private static void afterwardsHeld(Consumer<ApplicationContext> calls) {
        local().withBean(Inner.class).withBean(Outer.class).run(context -> {
            calls.accept(context);
            assertThat(isFree(context, "join")).isFalse();
            context.getBean(PermitOperations.class).endMinimumHolds();
            await().until(() -> isFree(context, "join"));
        });
    }

    static class Inner {

        @DistributedPermit(key = "join", limit = 1, reentrant = true, holdAtLeast = "1h")
        public void joined() {
            assertThat(Permits.current()).map(Permit::isHeld).contains(true);
        }

        @DistributedPermit(key = "join", limit = 1, reentrant = true)
        public void between(Runnable work) {
            work.run();
        }

        @DistributedPermit(key = "join", limit = 1, reentrant = true, holdAtLeast = "1h")
        public Mono<String> joinedMono() {
            return Mono.just("done");
        }
    }

    static class Outer {

        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @DistributedPermit(key = "join", limit = 1)
        public void call() {
            inner.joined();
        }

        @DistributedPermit(key = "join", limit = 1)
        public void severalTimes() {
            inner.between(() -> {
                inner.joined();
                inner.between(inner::joined);
            });
        }

        @DistributedPermit(key = "join", limit = 1)
        public void withoutAMinimum() {
            inner.between(() -> {});
        }

        @DistributedPermit(key = "join", limit = 1)
        public Mono<String> mono() {
            return inner.joinedMono().flatMap(value -> inner.joinedMono());
        }

        @DistributedPermit(key = "inner", limit = 1, within = "join")
        public CompletableFuture<String> futureWithin() {
            inner.joined();
            return CompletableFuture.completedFuture("done");
        }

        @DistributedPermit(key = "inner", limit = 1, within = "join")
        public Mono<String> monoWithin() {
            return inner.joinedMono();
        }

        @DistributedPermit(key = "join", limit = 1)
        public CompletableFuture<String> future() {
            inner.joined();
            return CompletableFuture.completedFuture("done");
        }

        @DistributedPermit(key = "join", limit = 1)
        public Mono<String> monoWithAPlainCall() {
            inner.joined();
            return Mono.just("done");
        }
    }
}
