package io.github.distributedpermit.harness.history;

/**
 * What is known of a call. Times are those of {@code System.nanoTime()}, 0 for not yet.
 *
 * @param member the process
 * @param thread its thread
 * @param key number of the key
 * @param kind how it asks
 * @param timeout how long it wants to wait, nanoseconds
 * @param asked just before it asked
 * @param entered when it had its permit
 * @param held the last time at which the library called the permit held
 * @param lost when the library notified of the permit's loss
 * @param leaving just before it gave its permit back
 * @param ended when it was over
 * @param ending how
 * @param version of its token
 * @param count of its token
 */
public record Call(
        int member,
        int thread,
        int key,
        CallKind kind,
        long timeout,
        long asked,
        long entered,
        long held,
        long lost,
        long leaving,
        long ended,
        Ending ending,
        long version,
        long count) {

    private static final CallKind[] KINDS = CallKind.values();

    static Call read(EventLog log, int at) {
        return new Call(
                log.integer(at + CallNote.MEMBER),
                log.integer(at + CallNote.THREAD),
                log.integer(at + CallNote.KEY),
                KINDS[log.integer(at + CallNote.KIND)],
                log.number(at + CallNote.TIMEOUT),
                log.number(at + CallNote.ASKED),
                log.number(at + CallNote.ENTERED),
                log.number(at + CallNote.HELD),
                log.number(at + CallNote.LOST),
                log.number(at + CallNote.LEAVING),
                log.number(at + CallNote.ENDED),
                Ending.of(log.integer(at + CallNote.ENDING)),
                log.number(at + CallNote.VERSION),
                log.number(at + CallNote.COUNT));
    }

    /** Whether it had a permit at some time. */
    public boolean wasGranted() {
        return entered != 0;
    }

    /** Whether, as far as it knows, it has a permit. */
    public boolean isInside() {
        return entered != 0 && leaving == 0;
    }

    /** Whether it waits. */
    public boolean isWaiting() {
        return asked != 0 && entered == 0 && ended == 0;
    }
}
