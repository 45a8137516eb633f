package io.github.distributedpermit.spi;

/**
 * Makes sure that the calling thread has some room left on its stack, before a step into code that an error must not cut
 * short: an executor whose own lock stayed locked would be dead for the whole process.
 */
public final class StackRoom {

    /** About three kilobytes; an executor takes half of that. */
    private static final int LEVELS = 36;

    /**
     * About ten kilobytes, twice what a client library takes to hand a command to its own threads; less once the JIT compiler has
     * inlined these levels into one another. The store in memory takes more than an executor.
     */
    private static final int LEVELS_OF_A_CLIENT = 120;

    /** Half a kilobyte. */
    private static final int LEVELS_OF_A_RETURN = 6;

    private StackRoom() {}

    /** Throws the {@link StackOverflowError} here, where nothing has been touched. Takes a third of a microsecond. */
    public static void check() {
        check(LEVELS);
    }

    /**
     * The same before a step into the store in memory, or into the client library of another one, whose connection would stay
     * unusable, and look open, if an error struck inside of it. Takes about a microsecond.
     */
    public static void checkForClient() {
        check(LEVELS_OF_A_CLIENT);
    }

    /** The same before a permit is taken for a call that observers are notified of first: it can be returned then. */
    public static void checkForReturn() {
        check(LEVELS_OF_A_RETURN);
    }

    private static void check(int levels) {
        if (use(levels, 1, 2, 3, 4, 5, 6, 7, 8) == Long.MIN_VALUE) {
            throw new IllegalStateException("cannot be");
        }
    }

    /** Uses all of its arguments after the call below it, so that each level keeps them on the stack. */
    private static long use(int levels, long a, long b, long c, long d, long e, long f, long g, long h) {
        if (levels == 0) {
            return a;
        }
        long below = use(levels - 1, b, c, d, e, f, g, h, a);
        return (below ^ a ^ b ^ c ^ d ^ e ^ f ^ g ^ h) & Long.MAX_VALUE;
    }
}
