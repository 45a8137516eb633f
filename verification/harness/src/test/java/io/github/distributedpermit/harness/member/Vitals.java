package io.github.distributedpermit.harness.member;

import java.lang.management.ManagementFactory;

/** How much of everything a member uses. */
final class Vitals {

    private Vitals() {}

    /** Live heap in kB after a collection, and threads. */
    static String now() {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024;
        return "vitals " + heap + " " + ManagementFactory.getThreadMXBean().getThreadCount();
    }
}
