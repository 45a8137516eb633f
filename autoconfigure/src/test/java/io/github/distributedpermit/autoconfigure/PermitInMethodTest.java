package io.github.distributedpermit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.OnLoss;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What a limited method can do with its permit, and what happens to it when that is lost. */
@Timeout(60)
class PermitInMethodTest {

    private final CuttableBackend backend = new CuttableBackend();
    private final ApplicationContextRunner runner =
            Starts.withBackend(backend).withBean(Inner.class).withBean(Work.class);

    /** Where permits are lost soon, and also when the machine stands still for a moment. */
    private final ApplicationContextRunner losing = runner.withPropertyValues("distributed-permit.lease=300ms");

    @Test
    void currentPermitIsThatOfTheInnermostMethod() {
        runner.run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.names()).containsExactly("outer:true", "inner:true", "outer:true", "none");
            assertThat(work.last().isHeld()).isFalse();
            assertThat(Permits.current()).isEmpty();
            assertThat(Permits.current("outer")).isEmpty();
        });
    }

    @Test
    void permitsOfOneMethodAreFoundByName() {
        runner.run(context ->
                assertThat(context.getBean(Work.class).several()).containsExactly("second", "first", "second"));
    }

    @Test
    void permitReleasedByTheMethodIsNotReleasedTwice() {
        runner.run(context -> {
            assertThat(context.getBean(Work.class).early(context.getBean(Permits.class)))
                    .containsExactly(true, false, true);
            try (Permit again = context.getBean(Permits.class).acquire("early")) {
                assertThat(again.release()).isTrue();
                assertThat(again.release()).isFalse();
            }
        });
    }

    @Test
    void releaseSaysThatAPermitWasLost() {
        losing.run(context -> {
            Permit permit = context.getBean(Permits.class).acquire("early");
            backend.with(CuttableBackend.Line.SILENT);
            await().until(() -> !permit.isHeld());
            assertThat(permit.release()).isFalse();
        });
    }

    @Test
    void methodGoesOnWhenItsPermitIsLost() {
        losing.run(context ->
                assertThat(context.getBean(Work.class).goesOn(backend)).isEqualTo("lost"));
    }

    @Test
    void methodIsInterruptedWhenItsPermitIsLost() {
        losing.run(context -> {
            Work work = context.getBean(Work.class);
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> work.interrupted(backend));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void interruptThatTheMethodIgnoresEndsWithIt() {
        losing.run(context -> {
            assertThat(context.getBean(Work.class).ignores(backend)).isEqualTo("interrupted");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void methodThatReturnsAFutureHasItsPermitOnWhicheverThreadItRuns() {
        runner.run(context -> {
            Work work = context.getBean(Work.class);
            CompletableFuture<String> end = new CompletableFuture<>();
            CompletableFuture<String> first = work.later(end);
            CompletableFuture<String> second = work.later(end);
            end.complete("done");
            assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo("later:true done");
            assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo("later:true done");
            assertThat(Permits.current()).isEmpty();
        });
    }

    @Test
    void interruptOfWorkThatOutlivesItsMethodIsRefusedAtStart() {
        assertThat(Starts.analysis(runner.withBean(InterruptLater.class)).getDescription())
                .contains("InterruptLater.later()")
                .contains("onLoss = INTERRUPT");
    }

    static class InterruptLater {
        @DistributedPermit(key = "interrupt-later", limit = 1, onLoss = OnLoss.INTERRUPT)
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class Inner {
        @DistributedPermit(key = "inner", limit = 1)
        public void note(List<String> names) {
            names.add(describe());
        }
    }

    static class Work {
        private final Inner inner;

        private @Nullable Permit last;

        Work(Inner inner) {
            this.inner = inner;
        }

        @DistributedPermit(key = "outer", limit = 1)
        public List<String> names() {
            List<String> names = new ArrayList<>();
            names.add(describe());
            inner.note(names);
            names.add(describe());
            last = Permits.current("outer").orElseThrow();
            AtomicReference<String> other = new AtomicReference<>("");
            Thread thread = new Thread(() -> other.set(describe()));
            thread.start();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            names.add(other.get());
            return names;
        }

        Permit last() {
            return Objects.requireNonNull(last);
        }

        @DistributedPermit(key = "first", limit = 1)
        @DistributedPermit(key = "second", limit = 1)
        public List<String> several() {
            return List.of(
                    Permits.current().orElseThrow().name(),
                    Permits.current("first").orElseThrow().name(),
                    Permits.current("second").orElseThrow().key());
        }

        @DistributedPermit(key = "early", limit = 1)
        public List<Boolean> early(Permits permits) throws InterruptedException {
            Permit mine = Permits.current().orElseThrow();
            boolean first = mine.release();
            boolean second = mine.release();
            try (Permit another = permits.tryAcquire("early").orElseThrow()) {
                return List.of(first, second, another.isHeld());
            }
        }

        @DistributedPermit(key = "later", limit = 1)
        public CompletableFuture<String> later(CompletableFuture<String> end) {
            String permit = describe();
            return end.thenApply(value -> permit + " " + value);
        }

        @DistributedPermit(key = "goes-on", limit = 1)
        public String goesOn(CuttableBackend backend) {
            Permit mine = Permits.current().orElseThrow();
            backend.with(CuttableBackend.Line.SILENT);
            await().until(() -> !mine.isHeld());
            return "lost";
        }

        @DistributedPermit(key = "interrupted", limit = 1, onLoss = OnLoss.INTERRUPT)
        public void interrupted(CuttableBackend backend) throws InterruptedException {
            backend.with(CuttableBackend.Line.SILENT);
            assertThat(new CountDownLatch(1).await(30, TimeUnit.SECONDS)).isTrue();
        }

        @DistributedPermit(key = "ignores", limit = 1, onLoss = OnLoss.INTERRUPT)
        public String ignores(CuttableBackend backend) {
            backend.with(CuttableBackend.Line.SILENT);
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            return "interrupted";
        }
    }

    private static String describe() {
        return Permits.current()
                .map(permit -> permit.name() + ":" + permit.isHeld())
                .orElse("none");
    }
}
