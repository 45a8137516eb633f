package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.KeyEncoding;
import io.github.distributedpermit.spi.snapshot.StoreEvents;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The {@link KeyUse} of each key in which a member holds, waits, or has a request under way; others need no memory. Distributes
 * the notices of the inbox. Confined to the event loop.
 */
final class KeyUses {

    /** By encoded key, as notices name it. */
    private final Map<String, KeyUse> uses = new HashMap<>();

    private final String prefix;
    private final StoreEvents events;

    KeyUses(String prefix, StoreEvents events) {
        this.prefix = prefix;
        this.events = events;
    }

    /** A copy, because a check of one use may remove it. */
    List<KeyUse> all() {
        return List.copyOf(uses.values());
    }

    /**
     * Runs the one request of a key. Notices that arrive meanwhile are delivered after it. The layer sends one
     * request of a key at a time, so that a use is never begun twice.
     */
    <T> CompletableFuture<T> during(Membership membership, String key, Function<KeyUse, CompletableFuture<T>> request) {
        KeyUse use = uses.computeIfAbsent(
                KeyEncoding.encode(key), encoded -> new KeyUse(new KeyNames(prefix, key, encoded), events));
        use.begin();
        CompletableFuture<T> result;
        try {
            result = request.apply(use);
        } catch (RuntimeException | Error e) {
            result = CompletableFuture.failedFuture(e);
        }
        return result.whenComplete((value, failure) -> {
            boolean current = uses.get(use.names().encoded()) == use; // the loss of the session clears all uses
            use.end(current);
            Session session = membership.current();
            // Memory is kept only for keys in which something can happen without a request of this member.
            if (session == null || use.isUnused(session)) {
                uses.remove(use.names().encoded(), use);
            }
        });
    }

    /**
     * The layer does not use these keys any more. A use that is busy belongs to a request that has begun since, and
     * stays.
     */
    void release(Set<String> keys) {
        keys.forEach(key -> uses.computeIfPresent(KeyEncoding.encode(key), (name, use) -> use.isBusy() ? use : null));
    }

    /**
     * A notice has arrived in the inbox. For a key that is not in use it is out of date. The key of the entry ends
     * with the encoded permit key, or with the name of the notice that concerns any key.
     */
    void notified(KeyValue notice) {
        String name = notice.key().substring(notice.key().lastIndexOf('/') + 1);
        if (name.equals(KeyNames.CONTENTION)) {
            ContentionNotice.of(notice).ifPresent(read -> {
                KeyUse use = uses.get(read.key());
                if (use != null && read.evicted()) {
                    use.check();
                } else if (use != null) {
                    use.contended(notice.modified());
                }
            });
            return;
        }
        KeyUse use = uses.get(name);
        if (use != null) {
            use.notified(notice);
        }
    }

    /**
     * A notice was deleted unread: what it said is found by a claim of its key.
     *
     * @param name of its entry, as in {@link #notified}
     */
    void unread(String name) {
        KeyUse use = uses.get(name.substring(name.lastIndexOf('/') + 1));
        if (use != null) {
            use.unread();
        }
    }

    /**
     * The session is lost, and everything that was recorded for the member with it. Requests under way keep their
     * use, and see at their end that it is no longer the current one.
     */
    void forget() {
        uses.clear();
    }
}
