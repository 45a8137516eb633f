package io.github.distributedpermit.core.key;

/** What the network does to messages. Times in nanoseconds. */
interface Weather {

    /** What a delay says of a message that never arrives. */
    long LOST = -1;

    long MILLI = 1_000_000L;

    /** Half a millisecond each way, and nothing is ever lost. */
    Weather FAIR = new Weather() {};

    /** Until a claim reaches the store, or {@link #LOST}. */
    default long claimDelay() {
        return MILLI / 2;
    }

    /** Until the client writes the claim of this sequence, or {@link #LOST}. */
    default long writeDelay(long sequence) {
        return 0;
    }

    /** Until the answer reaches the member, or {@link #LOST}. */
    default long answerDelay() {
        return MILLI / 2;
    }

    /** Until a pushed grant reaches the member, or {@link #LOST}. */
    default long pushDelay() {
        return MILLI / 2;
    }

    /** Whether this message arrives once more, after another delay. */
    default boolean doubles() {
        return false;
    }

    /** Whether the member receives a failure of its claim, whatever became of it. */
    default boolean fails() {
        return false;
    }
}
