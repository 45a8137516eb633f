package io.github.distributedpermit.core.key;

import io.github.distributedpermit.spi.Claim;
import io.github.distributedpermit.spi.Holding;
import io.github.distributedpermit.spi.OverrideLimit;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One key of a simulated store. Times in microseconds of the store's clock. */
interface SimTable {

    /** The answer to a claim, and whom else it served. */
    record Outcome(@Nullable Holding answer, Map<String, Holding> served) {}

    /**
     * What the store has for a member.
     *
     * @param lacks how many permits more than it has its oldest waiter needs
     * @param since when its oldest waiter arrived; empty while it is not queued
     */
    record Row(
            String member,
            int permits,
            int wanted,
            int weightOfHead,
            int lacks,
            int limit,
            long sequence,
            OptionalLong since,
            long expiry) {

        boolean queued() {
            return since.isPresent();
        }
    }

    Outcome claim(String member, Claim claim, long now);

    Outcome override(OverrideLimit limit, long now);

    Outcome refresh(long now);

    /** The member's records are gone. */
    Outcome leave(String member, long now);

    Iterable<Row> rows();

    @Nullable
    Row row(String member);

    int used();

    OverrideLimit override();

    boolean isEmpty();
}
