package io.github.distributedpermit.core;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Param;

/** The same line with the mistake planted: whoever decides looks first and writes then. */
@Param(name = "call", gen = IntGen.class, conf = "0:1")
public class LineWithoutCompareAndSet extends LineUnderLincheck {

    @Override
    Waiter waiter() {
        return new CheckThenAct(super.waiter());
    }

    private static final class CheckThenAct extends Waiter {

        CheckThenAct(Waiter like) {
            super(like.use, like.weight, like.queueing, like.arrival, outcome -> {});
        }

        @Override
        boolean decide(Outcome value) {
            if (outcome() != null) {
                return false;
            }
            overwrite(value);
            return true;
        }
    }
}
