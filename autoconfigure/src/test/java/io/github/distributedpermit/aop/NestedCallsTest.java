package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.Contexts.local;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.Permits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class NestedCallsTest {

    private static final String WARNING = "it waits for itself";

    @Test
    void nestedCallOfTheSameKeyTakesAnotherPermit(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            assertThat(context.getBean(Outer.class).two()).isEqualTo("0 free");
            assertThat(output).doesNotContain(WARNING);
        });
    }

    @Test
    void nestedCallThatBlocksItselfIsWarnedAboutOnce(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            Outer outer = context.getBean(Outer.class);
            for (int i = 0; i < 3; i++) {
                assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(outer::one);
            }
            assertThat(output.getOut().split(WARNING, -1)).hasSize(2);
            assertThat(output)
                    .contains("'one'")
                    .contains("holds 1 of 1 permits")
                    .contains("Inner.one");
        });
    }

    @Test
    void callThatCanJoinNoneOfThePermitsOfItsThreadIsWarnedAbout(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            assertThatExceptionOfType(PermitRejectedException.class)
                    .isThrownBy(() -> context.getBean(Outer.class).threeTimes());
            assertThat(output)
                    .contains("'three'")
                    .contains("holds 2 of 2 permits")
                    .contains(WARNING);
        });
    }

    @Test
    void callThatJoinsIsNotWarnedAbout(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            context.getBean(Outer.class).joins();
            assertThat(output).doesNotContain(WARNING);
        });
    }

    @Test
    void callAfterAnEarlyReleaseIsNotWarnedAbout(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            context.getBean(Outer.class).early();
            assertThat(output).doesNotContain(WARNING);
        });
    }

    @Test
    void futureOfTheSameKeyIsWarnedAboutWhereItsCallerHasAllPermits(CapturedOutput output) {
        local().withBean(Outer.class).withBean(Inner.class).run(context -> {
            assertThat(context.getBean(Outer.class).laters().get(0))
                    .succeedsWithin(Duration.ofSeconds(30))
                    .isEqualTo("done");
            assertThat(output).contains("'one'").contains("only when the outer method has ended, which must not wait");
        });
    }

    @Test
    void callAfterAnotherOneIsNotNested(CapturedOutput output) {
        local().withBean(Inner.class).run(context -> {
            Inner inner = context.getBean(Inner.class);
            IntStream.range(0, 3).forEach(i -> inner.one());
            assertThat(output).doesNotContain(WARNING);
        });
    }

    static class Outer {
        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        @DistributedPermit(key = "two", limit = 2)
        public String two() throws InterruptedException {
            return inner.two();
        }

        @DistributedPermit(key = "one", limit = 1)
        public void one() {
            inner.one();
        }

        @DistributedPermit(key = "three", limit = 2)
        public void threeTimes() {
            inner.twice(() -> inner.joinWithTwo());
        }

        @DistributedPermit(key = "three", limit = 2, permits = 2)
        public void joins() {
            inner.joinWithTwo();
        }

        @DistributedPermit(key = "one", limit = 1)
        public void early() {
            Permits.current().ifPresent(Permit::release);
            inner.one();
        }

        /** In a list, since the permit of the outer method is not held until that future ends. */
        @DistributedPermit(key = "one", limit = 1)
        public List<CompletableFuture<String>> laters() {
            return List.of(inner.later());
        }
    }

    static class Inner {
        private final Permits permits;

        Inner(Permits permits) {
            this.permits = permits;
        }

        @DistributedPermit(key = "two", limit = 2)
        public String two() throws InterruptedException {
            Optional<Permit> third = permits.tryAcquire("two");
            third.ifPresent(Permit::release);
            return third.isPresent() ? "1 free" : "0 free";
        }

        @DistributedPermit(key = "one", limit = 1, timeout = "20ms")
        public void one() {}

        @DistributedPermit(key = "three", limit = 2)
        public void twice(Runnable work) {
            work.run();
        }

        @DistributedPermit(key = "three", limit = 2, permits = 2, reentrant = true, timeout = "20ms")
        public void joinWithTwo() {}

        @DistributedPermit(key = "one", limit = 1)
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("done");
        }
    }
}
