package io.github.distributedpermit.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.core.Release;
import io.github.distributedpermit.core.key.QueueUnderLincheck.OnlyMember;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Errors that strike again and again, as a full stack does: in what an event does after its lock is free, in the second try
 * of that, in the log, and in the report of the error. The queue must not run the same effects in a circle, and drop none.
 */
class RepeatedErrorsTest {

    private static final int SEEDS = 500;
    private static final int STEPS = 40;
    private static final long LEASE = 15_000_000_000L;

    private static final class Planted extends VirtualMachineError {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this;
        }
    }

    @Test
    @Timeout(300)
    void queueRecoversFromErrorsInARow() {
        for (int seed = 0; seed < SEEDS; seed++) {
            new World(seed).play();
        }
    }

    private static final class World extends Handler {

        private final PermitName permit = new PermitName(
                PermitDefinition.named("queue", "the test").limit(1).build(),
                new Policy(
                        1,
                        LEASE,
                        LEASE / 5,
                        LEASE,
                        LEASE / 30,
                        0,
                        0,
                        10,
                        false,
                        Release.ASYNC,
                        io.github.distributedpermit.OnStoreFailure.FAIL));
        private final Random random;
        private final int seed;
        private final List<Waiter> calls = new ArrayList<>();
        private boolean failing = true;
        private final int percent;

        World(int seed) {
            super();
            this.seed = seed;
            random = new Random(seed);
            percent = 10 + random.nextInt(80);
        }

        void play() {
            OnlyMember member = new OnlyMember(false) {
                @Override
                public boolean isObserved() {
                    return true;
                }

                @Override
                public void claimed(boolean answered, long took) {
                    strike();
                }

                @Override
                public boolean trouble(KeyQueue queue, Throwable cause) {
                    strike();
                    return true;
                }
            };
            KeyQueue queue = new KeyQueue("queue", permit.policy(), false, member);
            Logger log = Logger.getLogger(Effects.class.getName());
            log.addHandler(this);
            log.setUseParentHandlers(false);
            try {
                for (int step = 0; step < STEPS; step++) {
                    boolean arrives = random.nextInt(3) > 0;
                    guarded(() -> {
                        if (arrives) {
                            Waiter call = new Waiter(permit, "queue", 1, true, 0, outcome -> strike());
                            calls.add(call);
                            queue.enter(call);
                        } else {
                            releaseFirst();
                        }
                    });
                }
            } finally {
                log.removeHandler(this);
                log.setUseParentHandlers(true);
            }
            failing = false;
            String at = "seed " + seed;
            // Each event runs what is left of the events before it. A call whose entry failed has given up.
            for (int turn = 0; turn <= 2 * STEPS; turn++) {
                queue.check();
                releaseFirst();
            }
            queue.check();
            assertThat(calls).as(at).noneMatch(call -> call.outcome() instanceof Grant grant && grant.isHeld());
            assertThat(calls.stream().filter(call -> call.inQueue)).as(at).isEmpty();
            assertThat(permit.counts.holders()).as(at).isZero();
        }

        private void releaseFirst() {
            for (Waiter call : calls) {
                if (call.outcome() instanceof Grant grant && grant.isHeld()) {
                    grant.release();
                    return;
                }
            }
        }

        private void strike() {
            if (failing && random.nextInt(100) < percent) {
                throw new Planted();
            }
        }

        private static void guarded(Runnable step) {
            try {
                step.run();
            } catch (Planted e) {
                // the error of this call
            }
        }

        @Override
        public void publish(LogRecord line) {
            strike();
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
