package io.github.distributedpermit.core.key;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Param;
import org.jspecify.annotations.Nullable;

/** The same queue with a mutant: whoever decides reads the outcome first and writes it then. */
@Param(name = "call", gen = IntGen.class, conf = "0:1")
public class QueueWithoutCompareAndSet extends QueueUnderLincheck {

    @Override
    Waiter waiter() {
        return new CheckThenAct(super.waiter());
    }

    private static final class CheckThenAct extends Waiter {

        private volatile @Nullable Outcome written;

        CheckThenAct(Waiter like) {
            super(like.permit, like.key(), like.weight, like.mayWait, like.arrival, outcome -> {});
        }

        @Override
        public boolean decide(Outcome value) {
            if (written != null) {
                return false;
            }
            written = value;
            return true;
        }

        @Override
        @Nullable
        public Outcome outcome() {
            return written;
        }
    }
}
