package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.test.system.CapturedOutput;

/** What requests that are rejected may leave in the log. */
final class Logs {

    private Logs() {}

    /**
     * No stack trace of this library, and no error. Netty's error about an event loop that has ended is not counted: it
     * belongs to a context that an earlier test of the same JVM has closed.
     */
    static void assertQuiet(CapturedOutput output) {
        assertThat(output).doesNotContain("\tat io.github.distributedpermit");
        assertThat(output.toString().lines())
                .noneMatch(line -> line.contains("ERROR") && !line.contains("rejectedExecution"));
    }
}
