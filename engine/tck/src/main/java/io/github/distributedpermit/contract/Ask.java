package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.Claim;
import java.time.Duration;

/** What a test's member claims; sequence and lease come from the member if the test does not care. */
record Ask(
        String key,
        int limit,
        int held,
        int wanted,
        int weightOfHead,
        Duration waited,
        Duration lease,
        boolean queue,
        int waitingBeyondWanted) {

    Claim as(long sequence) {
        return new Claim(
                key,
                limit,
                sequence,
                held,
                wanted,
                weightOfHead,
                waited,
                lease,
                queue,
                0,
                0,
                false,
                waitingBeyondWanted,
                0);
    }

    /** What a member claims that states no more calls than those it wants permits for. */
    Ask(String key, int limit, int held, int wanted, int weightOfHead, Duration waited, Duration lease, boolean queue) {
        this(key, limit, held, wanted, weightOfHead, waited, lease, queue, 0);
    }

    Ask weightOfHead(int weight) {
        return new Ask(key, limit, held, wanted, weight, waited, lease, queue, waitingBeyondWanted);
    }

    Ask held(int left) {
        return new Ask(key, limit, left, wanted, weightOfHead, waited, lease, queue, waitingBeyondWanted);
    }

    Ask waited(Duration age) {
        return new Ask(key, limit, held, wanted, weightOfHead, age, lease, queue, waitingBeyondWanted);
    }

    Ask lease(Duration length) {
        return new Ask(key, limit, held, wanted, weightOfHead, waited, length, queue, waitingBeyondWanted);
    }

    /** So many calls wait besides those that the permits are wanted for. */
    Ask waitingBeyondWanted(int calls) {
        return new Ask(key, limit, held, wanted, weightOfHead, waited, lease, queue, calls);
    }
}
