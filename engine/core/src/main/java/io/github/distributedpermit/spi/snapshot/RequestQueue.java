package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a key that wait for the one under way; claims side by side are merged. Confined to its {@link KeyWorker}.
 *
 * <p>Claims of a member are absolute, so two that wait side by side can be replaced by one. A task between two claims
 * is not crossed: an override or a removal has to take effect between them.
 */
final class RequestQueue {

    private final Deque<KeyRequest> requests = new ArrayDeque<>();
    /**
     * The highest sequence of a claim that was sent. A claim below it that still waits has no effect any more, and
     * must not lower what the merged claim leaves.
     */
    private long sent = -1;

    /**
     * So at most one claim waits behind each task, however many threads of the process acquire and release meanwhile.
     */
    void add(KeyRequest next) {
        if (next instanceof ClaimRequest claim && requests.peekLast() instanceof ClaimRequest waiting) {
            requests.removeLast();
            requests.addLast(waiting.mergedWith(claim, sent));
        } else {
            requests.addLast(next);
        }
    }

    boolean isEmpty() {
        return requests.isEmpty();
    }

    /** The claim that waits, if nothing else does. */
    @Nullable
    Claim onlyClaim() {
        KeyRequest first = requests.peekFirst();
        return first == null || requests.size() > 1 ? null : first.claim();
    }

    /** Requests whose callers have given up need not be sent. */
    void dropAbandoned() {
        requests.removeIf(KeyRequest::isAbandoned);
    }

    /**
     * Hands out what is to be sent now, if there is anything. Records the sequence before the claim is sent: from
     * then on it may take effect.
     */
    @Nullable
    KeyRequest poll() {
        KeyRequest next = requests.poll();
        if (next instanceof ClaimRequest claim) {
            sent = Math.max(sent, claim.claim().sequence());
        }
        return next;
    }

    /** Hands out what will not be sent. The caller has to fail these requests, since no answer will follow. */
    List<KeyRequest> drop() {
        List<KeyRequest> dropped = List.copyOf(requests);
        requests.clear();
        return dropped;
    }

    /** The highest sequence of a claim that was sent. */
    long sent() {
        return sent;
    }
}
