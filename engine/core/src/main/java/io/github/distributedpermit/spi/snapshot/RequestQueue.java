package io.github.distributedpermit.spi.snapshot;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.snapshot.KeyRequest.ClaimRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The requests of a key that wait for the one under way; claims side by side are merged. Confined to its {@link KeyWorker}. */
final class RequestQueue {

    private final Deque<KeyRequest> requests = new ArrayDeque<>();
    /** The highest sequence of a claim that was sent. */
    private long sent = -1;

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

    /** Hands out what is to be sent now, if there is anything. */
    @Nullable
    KeyRequest poll() {
        KeyRequest next = requests.poll();
        if (next instanceof ClaimRequest claim) {
            sent = Math.max(sent, claim.claim().sequence());
        }
        return next;
    }

    /** Hands out what will not be sent. */
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
