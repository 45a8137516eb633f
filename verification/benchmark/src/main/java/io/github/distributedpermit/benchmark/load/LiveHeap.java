package io.github.distributedpermit.benchmark.load;

import java.util.concurrent.TimeUnit;

/** The size of the objects of this process that are in use. Stateless. */
public final class LiveHeap {

    private static final int COLLECTIONS = 5;
    private static final long PAUSE_MILLIS = 50;

    private LiveHeap() {}

    /** The least of several collections, since some objects, such as buffers behind references, need more than one. */
    public static long bytes() {
        long used = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            pause();
            used = Math.min(
                    used,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return used;
    }

    /** Lets the threads run that the collection wakes up to clear references. */
    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
