package io.github.distributedpermit.benchmark.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoardTest {

    private static final Workload WORK = Workload.of(6, 2, Duration.ofMillis(1), Duration.ofSeconds(3));

    @TempDir
    Path folder;

    @Test
    void semaphoreThatKeepsItsLimitHasNoViolations() throws Exception {
        Semaphore semaphore = new Semaphore(WORK.limit(), true);
        SliceStats stats = slice(gate(semaphore::acquire, semaphore::release), WORK.limit());
        assertThat(stats.violations()).isZero();
        assertThat(stats.most()).isEqualTo(WORK.limit());
        assertThat(stats.pairs()).isPositive();
        assertThat(stats.idleShare()).isBetween(0.0, 1.0);
        assertThat(stats.inVain()).isZero();
    }

    @Test
    void gateThatLetsEverybodyInIsCaught() throws Exception {
        SliceStats stats = slice(gate(() -> {}, () -> {}), WORK.seats());
        assertThat(stats.violations()).isPositive();
        assertThat(stats.most()).isGreaterThan(WORK.limit());
    }

    @Test
    void gateThatLetsOneTooManyInIsCaught() throws Exception {
        Semaphore semaphore = new Semaphore(WORK.limit() + 1, true);
        SliceStats stats = slice(gate(semaphore::acquire, semaphore::release), WORK.limit() + 1);
        assertThat(stats.violations()).isPositive();
    }

    @Test
    void twoMappingsOfOneFileSeeEachOther() throws Exception {
        Path file = folder.resolve("shared");
        Board one = Board.open(file, 1, 1, 1);
        Board other = Board.open(file, 1, 1, 1);
        one.entered(0, 1);
        other.entered(0, 1);
        assertThat(one.violations()).isOne();
        assertThat(one.most()).isEqualTo(2);
    }

    @Test
    void waitThatIsStillOpenAtTheEndCounts() throws Exception {
        Workload work = Workload.of(2, 1, Duration.ZERO, Duration.ofNanos(1000));
        Board board = Board.open(folder.resolve("open"), 1, 2, 1);
        board.seat(0).noted(0, 100, 200, 210);
        board.seat(1).waits(100);
        SliceStats stats = SliceStats.of(board, work, 0, 1000);
        assertThat(stats.inVain()).isOne();
        assertThat(stats.longestByMean()).isEqualTo(900 / 500.0);
    }

    @Test
    void releaseIsMatchedWithTheStartThatItMadePossible() throws Exception {
        Workload work = Workload.of(2, 1, Duration.ZERO, Duration.ofNanos(1000));
        Board board = Board.open(folder.resolve("matched"), 1, 2, 1);
        board.seat(0).noted(0, 100, 200, 210);
        board.seat(1).noted(0, 250, 300, 310);
        assertThat(SliceStats.of(board, work, 0, 1000).handOver()).isEqualTo(50);
    }

    /** No thread leaves before so many have been inside at once, on a busy machine as well. */
    private SliceStats slice(Gate gate, int together) throws Exception {
        Board board = Board.open(folder.resolve("board"), 1, WORK.seats(), 1000);
        Contender contender = new Contender() {
            @Override
            public Gate gate(String key, int limit) {
                return gathering(gate, new CountDownLatch(together));
            }

            @Override
            public void close() {
                // nothing to close
            }
        };
        return new LocalSlice("test", contender, WORK, board, true).run(0);
    }

    private static Gate gathering(Gate gate, CountDownLatch inside) {
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                return gate.enter();
            }

            @Override
            public void leave(Object pass) throws Exception {
                inside.countDown();
                assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
                gate.leave(pass);
            }
        };
    }

    private static Gate gate(Step enter, Step leave) {
        return new Gate() {
            @Override
            public Object enter() throws Exception {
                enter.run();
                return List.of();
            }

            @Override
            public void leave(Object pass) throws Exception {
                leave.run();
            }
        };
    }

    private interface Step {
        void run() throws Exception;
    }
}
