package io.github.distributedpermit.backend.zookeeper;

import io.github.distributedpermit.spi.Holding;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The newest that a member has heard of its record, by an answer or by word in its node. Guarded by the lock of the channel. */
final class LastHeard {

    private @Nullable Holding last;

    void heard(Holding holding) {
        Holding before = last;
        boolean older = before != null
                && (before.sequence() > holding.sequence()
                        || (before.sequence() == holding.sequence() && before.version() > holding.version()));
        if (!older) {
            last = holding;
        }
    }

    /** The member has nothing any more; {@code null} if it never heard that it had. */
    @Nullable
    Holding gone() {
        Holding h = last;
        if (h != null) {
            last = new Holding(0, h.limit(), h.sequence(), h.version() + 1, h.contended(), h.over(), Optional.empty());
        }
        return last;
    }
}
