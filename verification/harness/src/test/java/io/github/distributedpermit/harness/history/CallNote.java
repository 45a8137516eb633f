package io.github.distributedpermit.harness.history;

/** What one call notes of itself. Used by the thread of the call, but for the loss, which others tell. */
public final class CallNote {

    static final int ASKED = 0;
    static final int ENTERED = 8;
    static final int HELD = 16;
    static final int LOST = 24;
    static final int LEAVING = 32;
    static final int ENDED = 40;
    static final int TIMEOUT = 48;
    static final int VERSION = 56;
    static final int COUNT = 64;
    static final int MEMBER = 72;
    static final int THREAD = 76;
    static final int KEY = 80;
    static final int KIND = 84;
    static final int ENDING = 88;

    private final EventLog log;
    private final int at;

    CallNote(EventLog log, int at) {
        this.log = log;
        this.at = at;
    }

    void begin(int member, int thread, int key, CallKind kind, long timeoutNanos) {
        log.integer(at + MEMBER, member);
        log.integer(at + THREAD, thread);
        log.integer(at + KEY, key);
        log.integer(at + KIND, kind.ordinal());
        log.number(at + TIMEOUT, timeoutNanos);
        log.number(at + ASKED, System.nanoTime());
    }

    void stalled(int member, long from, long to) {
        log.integer(at + MEMBER, member);
        log.integer(at + KIND, CallKind.STALL.ordinal());
        log.number(at + ASKED, from);
        log.number(at + ENDED, to);
    }

    /** It has a permit. */
    public void entered(long version, long count) {
        log.number(at + VERSION, version);
        log.number(at + COUNT, count);
        log.number(at + ENTERED, System.nanoTime());
    }

    /**
     * The library said that the permit is held.
     *
     * @param before a time from before it was asked
     */
    public void held(long before) {
        log.number(at + HELD, before);
    }

    /** The library said that the permit is lost. */
    public void lost() {
        log.number(at + LOST, System.nanoTime());
    }

    /** It is about to give its permit back. */
    public void leaving() {
        log.number(at + LEAVING, System.nanoTime());
    }

    /** It has ended. */
    public void ended(Ending ending) {
        log.integer(at + ENDING, ending.ordinal());
        log.number(at + ENDED, System.nanoTime());
    }
}
