package io.github.distributedpermit.benchmark.micro;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One claim of the local backend, with few and many members of the key. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@SuppressWarnings("NullAway.Init") // set by JMH
public class ClaimBenchmark {

    private static final Duration LEASE = Duration.ofHours(1);
    private static final HoldingListener DEAF = new HoldingListener() {
        @Override
        public void granted(String key, Holding holding) {
            // no caller waits
        }

        @Override
        public void changed(String key) {
            // no caller waits
        }

        @Override
        public void alive(long sentAtNanos) {
            // no sessions
        }

        @Override
        public void lost() {
            // no sessions
        }
    };

    /** Members that hold a permit. */
    @Param({"1", "100", "10000"})
    int members;

    private PermitStore newcomer;
    private long sequence;

    /** Lets them join. */
    @Setup
    public void join() {
        LocalPermitBackend backend = new LocalPermitBackend();
        for (int i = 0; i < members; i++) {
            var unused = backend.join(new Member("m" + i, "m" + i), DEAF).claim(claim(1));
        }
        newcomer = backend.join(new Member("newcomer", "newcomer"), DEAF);
    }

    /** Leaves. */
    @TearDown
    public void leave() {
        newcomer.close();
    }

    /** Takes a permit and gives it back. */
    @Benchmark
    public CompletionStage<Holding> takeAndReturn() {
        var unused = newcomer.claim(claim(1));
        return newcomer.claim(claim(0));
    }

    private Claim claim(int wanted) {
        return new Claim(
                "key",
                ++sequence,
                LEASE,
                new Claim.Counts(members + 1, wanted, wanted),
                new Claim.Head(wanted, Duration.ZERO, wanted > 0),
                Claim.Reclaim.NOTHING,
                Claim.Shown.NOTHING);
    }
}
