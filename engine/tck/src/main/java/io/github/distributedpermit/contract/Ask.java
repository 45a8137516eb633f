package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.Claim;
import java.time.Duration;

/** What a test's member claims; sequence and lease come from the member if the test does not care. */
record Ask(
        String key,
        int limit,
        int held,
        int wanted,
        int unit,
        Duration waited,
        Duration lease,
        boolean queue,
        int beyond) {

    Claim as(long sequence) {
        return new Claim(key, limit, sequence, held, wanted, unit, waited, lease, queue, 0, 0, false, beyond, 0);
    }

    /** What a member claims that states no more calls than those it wants permits for. */
    Ask(String key, int limit, int held, int wanted, int unit, Duration waited, Duration lease, boolean queue) {
        this(key, limit, held, wanted, unit, waited, lease, queue, 0);
    }

    Ask unit(int weight) {
        return new Ask(key, limit, held, wanted, weight, waited, lease, queue, beyond);
    }

    Ask held(int left) {
        return new Ask(key, limit, left, wanted, unit, waited, lease, queue, beyond);
    }

    Ask waited(Duration age) {
        return new Ask(key, limit, held, wanted, unit, age, lease, queue, beyond);
    }

    Ask lease(Duration length) {
        return new Ask(key, limit, held, wanted, unit, waited, length, queue, beyond);
    }

    /** So many calls wait besides those that the permits are wanted for. */
    Ask beyond(int calls) {
        return new Ask(key, limit, held, wanted, unit, waited, lease, queue, calls);
    }
}
