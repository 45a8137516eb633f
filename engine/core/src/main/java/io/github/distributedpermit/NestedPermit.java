package io.github.distributedpermit;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The permit of a call in code whose name lies within others: the innermost one, with the ones around it. Thread-safe. */
final class NestedPermit extends PermitContext.Nested {

    private final PermitGroup levels;

    /** @param levels from the inside out */
    NestedPermit(PermitGroup levels) {
        this.levels = levels;
    }

    @Override
    public Permit wrapped() {
        return levels.permits().get(0);
    }

    @Override
    void forEachLevel(Consumer<Permit> action) {
        for (int i = levels.permits().size() - 1; i >= 0; i--) {
            action.accept(levels.permits().get(i));
        }
    }

    @Override
    public boolean isHeld() {
        return levels.isHeld();
    }

    @Override
    public void onLoss(Runnable listener) {
        AtomicBoolean lost = new AtomicBoolean();
        levels.permits()
                .forEach(permit -> permit.onLoss(() -> {
                    if (lost.compareAndSet(false, true)) {
                        listener.run();
                    }
                }));
    }

    @Override
    public boolean release() {
        return levels.release();
    }

    @Override
    public String toString() {
        return levels.permits().toString();
    }
}
