package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.test.system.CapturedOutput;

/** What requests that are rejected may leave in the log. */
final class Logs {

    private Logs() {}

    /**
     * No stack trace of this library, and no error. Two errors of Netty are not counted, because they belong to earlier tests of the
     * same JVM: that of an event loop that has ended with its context, and that of answers which a test abandons on purpose.
     */
    static void assertQuiet(CapturedOutput output) {
        assertThat(output).doesNotContain("\tat io.github.distributedpermit");
        assertThat(output.toString().lines())
                .noneMatch(line -> line.contains("ERROR")
                        && !line.contains("rejectedExecution")
                        && !line.contains("ResourceLeakDetector"));
    }
}
