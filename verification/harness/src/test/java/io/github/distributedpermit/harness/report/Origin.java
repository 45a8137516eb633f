package io.github.distributedpermit.harness.report;

/**
 * The code and the machine that a result is about.
 *
 * @param commit of the working copy
 * @param jdk that ran harness and members
 * @param machine its operating system and processors
 */
public record Origin(String commit, String jdk, String machine) {

    /** Of this process; {@code ./verification/harness/run} passes the commit. */
    static Origin current() {
        return new Origin(
                System.getProperty("harness.commit", "unknown"),
                Runtime.version() + " " + System.getProperty("java.vendor"),
                "%s %s %s, %d processors"
                        .formatted(
                                System.getProperty("os.name"),
                                System.getProperty("os.version"),
                                System.getProperty("os.arch"),
                                Runtime.getRuntime().availableProcessors()));
    }
}
