package io.github.distributedpermit.benchmark.scenario;

/** A few rows of the table that belong together. */
public interface Scenario {

    /** What is measured, for the log. */
    String title();

    /** Measures it. */
    void run(Bench bench) throws Exception;

    /** Whether a quick run has the time for it. */
    default boolean isQuick() {
        return true;
    }
}
