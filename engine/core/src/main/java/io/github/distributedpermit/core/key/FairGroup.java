package io.github.distributedpermit.core.key;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one key in this process that have the same {@link io.github.distributedpermit.PermitRequest#fairBy group}. It exists while calls
 * of it wait or hold. Guarded by the lock of the {@link KeyQueue}.
 *
 * @param <C> its calls that wait
 */
final class FairGroup<C> {

    private final String name;
    private final Map<String, FairGroup<C>> all;

    /** How many permits its calls have. */
    int inUse;

    /** How many of its calls wait. */
    int waiting;

    /** The name of the permit that its last call has. */
    PermitName permit;

    /** When one of its calls was served last, or the group was made; counted in looks at the queue. */
    long turn;

    /** Those of its calls that wait, in their order. */
    @Nullable
    C first;

    @Nullable
    C last;

    /** The groups beside it that have calls which wait. */
    @Nullable
    FairGroup<C> previous;

    @Nullable
    FairGroup<C> next;

    FairGroup(String name, Map<String, FairGroup<C>> all, PermitName permit, long turn) {
        this.turn = turn;
        this.name = name;
        this.all = all;
        this.permit = permit;
    }

    /** Forgets which of its calls wait. */
    void clear() {
        waiting = 0;
        first = null;
        last = null;
        previous = null;
        next = null;
    }

    /** Forgets the group if no call of it is left. */
    void dropIfUnused() {
        if (inUse == 0 && waiting == 0) {
            all.remove(name, this);
        }
    }
}
