package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What a lane has to do, one after the other. */
sealed interface Work {

    /** Ends the stages that wait for it. */
    void fail(Throwable failure);

    /**
     * Claims of one key that came while another was on its way: see {@link Claim#mergedWith}.
     *
     * @param claim the one to make
     * @param arrived when its oldest waiter came, by the monotonic clock
     * @param answers of all claims it stands for
     */
    record Claiming(Claim claim, long arrived, List<CompletableFuture<Holding>> answers) implements Work {

        static Claiming of(Claim claim, long now, CompletableFuture<Holding> answer) {
            return new Claiming(claim, now - TimeUnit.NANOSECONDS.convert(claim.waited()), List.of(answer));
        }

        /** @param gone the highest sequence of a claim that has been looked at */
        Claiming merge(Claiming other, long gone) {
            Claim both = claim.mergedWith(other.claim, gone);
            List<CompletableFuture<Holding>> all = new ArrayList<>(answers);
            all.addAll(other.answers);
            return new Claiming(both, both.sequence() == claim.sequence() ? arrived : other.arrived, all);
        }

        void answer(Holding holding) {
            answers.forEach(answer -> answer.complete(holding));
        }

        @Override
        public void fail(Throwable failure) {
            answers.forEach(answer -> answer.completeExceptionally(failure));
        }
    }

    /** Reads the key, because a permit that the member holds may have been deleted from outside. */
    record Checking() implements Work {

        private static final System.Logger LOG = System.getLogger(Checking.class.getName());

        /** The next check comes soon. */
        @Override
        public void fail(Throwable failure) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "A key in Consul could not be checked for permits this member holds",
                    failure);
        }
    }

    /**
     * Sets or lifts the operator's limit.
     *
     * @param limit the new one, or none
     * @param done ends when it is in Consul
     */
    record Overriding(OptionalInt limit, CompletableFuture<Void> done) implements Work {

        @Override
        public void fail(Throwable failure) {
            done.completeExceptionally(failure);
        }
    }
}
