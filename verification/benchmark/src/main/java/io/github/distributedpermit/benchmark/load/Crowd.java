package io.github.distributedpermit.benchmark.load;

import java.time.Duration;

/** Far more calls than permits, all of one kind, in a closed loop. Confined to one thread. */
public interface Crowd {

    /** What the calls are, for the table. */
    String kind();

    /**
     * Runs the calls, and returns when the last has ended.
     *
     * @param settle waits that began within it do not count: at the beginning all ask at once
     */
    CrowdResult run(Gate gate, int calls, int limit, Duration hold, Duration settle, Duration length) throws Exception;

    /** Bytes of live heap of each of so many calls that wait while all permits are taken. */
    double bytesEach(Gate gate, int calls, int limit) throws Exception;
}
