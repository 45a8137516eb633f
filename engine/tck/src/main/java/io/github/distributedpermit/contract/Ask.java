package io.github.distributedpermit.contract;

import io.github.distributedpermit.spi.Claim;
import java.time.Duration;

/** What a test's member claims; sequence and lease come from the member if the test does not care. */
record Ask(String key, int limit, int held, int wanted, int unit, Duration waited, Duration lease, boolean queue) {

    Claim as(long sequence) {
        return new Claim(key, limit, sequence, held, wanted, unit, waited, lease, queue);
    }

    Ask unit(int weight) {
        return new Ask(key, limit, held, wanted, weight, waited, lease, queue);
    }

    Ask held(int left) {
        return new Ask(key, limit, left, wanted, unit, waited, lease, queue);
    }

    Ask waited(Duration age) {
        return new Ask(key, limit, held, wanted, unit, age, lease, queue);
    }

    Ask lease(Duration length) {
        return new Ask(key, limit, held, wanted, unit, waited, length, queue);
    }
}
