package io.github.distributedpermit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.distributedpermit.backend.local.LocalPermitBackend;
import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.HoldingListener;
import io.github.distributedpermit.spi.Member;
import io.github.distributedpermit.spi.PermitStore;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PermitClockTest {

    private final PermitClock clock = new PermitClock();

    @Test
    void timeStandsUntilItIsMoved() {
        long start = clock.nanoTime();
        assertThat(clock.nanoTime()).isEqualTo(start);
        clock.advance(Duration.ofMillis(5));
        assertThat(clock.nanoTime()).isEqualTo(start + 5_000_000);
        assertThatIllegalArgumentException().isThrownBy(() -> clock.advance(Duration.ofNanos(-1)));
    }

    /** However close the move is to the moment when the thread parks. */
    @Test
    @Timeout(60)
    void threadThatWaitsForATimeGoesOnWhenItHasCome() throws InterruptedException {
        for (int i = 0; i < 200; i++) {
            long until = clock.nanoTime() + 1_000;
            Thread waiting = new Thread(() -> {
                while (clock.nanoTime() < until) {
                    LockSupport.park(this);
                }
            });
            waiting.start();
            clock.advance(Duration.ofNanos(1_000));
            waiting.join();
        }
        assertThat(clock.nanoTime()).isPositive();
    }

    @Test
    void leasesOfTheBackendInMemoryEndOnThisClock() {
        LocalPermitBackend backend = new LocalPermitBackend(clock::nanoTime);
        PermitStore crashed = backend.join(new Member("1", "one"), new Ignored());
        PermitStore other = backend.join(new Member("2", "two"), new Ignored());
        assertThat(permitsOf(crashed, 1)).isEqualTo(1);

        clock.advance(Duration.ofSeconds(14));
        assertThat(permitsOf(other, 1)).isZero();
        clock.advance(Duration.ofSeconds(1));
        assertThat(permitsOf(other, 2)).isEqualTo(1);
    }

    private static int permitsOf(PermitStore store, long sequence) {
        Claim claim = Claim.of("key", sequence, Duration.ofSeconds(15))
                .wanted(1)
                .held(0)
                .tried(1);
        return store.claim(claim).toCompletableFuture().join().permits();
    }

    private static final class Ignored implements HoldingListener {

        @Override
        public void granted(String key, Holding holding) {
            // asked again instead
        }

        @Override
        public void changed(String key) {
            // as above
        }

        @Override
        public void alive(long sentAtNanos) {
            // has no session
        }

        @Override
        public void lost() {
            // has no session
        }
    }
}
