package io.github.distributedpermit.core.key;

/**
 * How long the store usually takes to answer claims of one key, and the hand-over slice that follows: passing a permit on within the
 * process for much less time than a claim takes would do nothing but claim, and for much longer would let other members wait. Guarded
 * by the lock of the {@link KeyQueue}.
 */
final class AnswerTime {

    private static final long MILLI = 1_000_000L;
    private static final long SHORTEST_SLICE = 5 * MILLI;
    private static final long LONGEST_SLICE = 100 * MILLI;
    private static final int ANSWERS_IN_SLICE = 4;

    /** Each answer counts for one in so many. */
    private static final int SMOOTHING = 8;

    private long usual;

    /** A claim was answered after this time. One that had to connect first shows little. */
    void took(long nanos) {
        usual += (Math.min(nanos, LONGEST_SLICE / ANSWERS_IN_SLICE) - usual) / SMOOTHING;
    }

    /** How long permits pass from call to call in this process while other members wait. */
    long slice(Policy policy) {
        return policy.slice() == Policy.OF_STORE ? slice() : policy.slice();
    }

    /** The same, if the settings do not say it. */
    long slice() {
        return Math.max(SHORTEST_SLICE, ANSWERS_IN_SLICE * usual);
    }
}
