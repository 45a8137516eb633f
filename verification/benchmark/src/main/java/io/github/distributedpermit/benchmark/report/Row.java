package io.github.distributedpermit.benchmark.report;

import io.github.distributedpermit.benchmark.load.Quartiles;

/**
 * One line of the table of marks.
 *
 * @param metric what was measured
 * @param workload under which load
 * @param unit of the value, such as {@code x RSemaphore}
 * @param value median and quartiles over the rounds
 * @param mark what it has to reach
 */
public record Row(String metric, String workload, String unit, Quartiles value, Mark mark) {

    /** Whether the median reaches the mark. */
    public boolean isReached() {
        return mark.isReachedBy(value.median());
    }
}
