package io.github.distributedpermit.core.key;

import java.util.Map;

/**
 * The calls of one key in this process that have the same {@link io.github.distributedpermit.PermitRequest#fairBy group}. It exists while calls
 * of it wait or hold. Guarded by the lock of the {@link KeyQueue}.
 */
final class FairGroup {

    private final String name;
    private final Map<String, FairGroup> all;

    /** How many permits its calls have. */
    int inUse;

    /** How many of its calls wait. */
    int waiting;

    /** The name of the permit that its last call has. */
    PermitStats stats;

    /** When one of its calls was served last, or the group was made; counted in looks at the queue. */
    long turn;

    /** The last look at the queue that has met one of its calls. */
    long seen;

    FairGroup(String name, Map<String, FairGroup> all, PermitStats stats, long turn) {
        this.turn = turn;
        this.name = name;
        this.all = all;
        this.stats = stats;
    }

    /** Forgets the group if no call of it is left. */
    void dropIfUnused() {
        if (inUse == 0 && waiting == 0) {
            all.remove(name, this);
        }
    }
}
