package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThatCode;

import org.junit.jupiter.api.Test;

/** What is recorded of a call must not make it fail. */
class StackCallersTest {

    @Test
    void missingClassOfTheTraceReachesNoCall() {
        StackCallers callers = new StackCallers(() -> {
            throw new NoClassDefFoundError("planted in the test");
        });
        assertThatCode(callers::current).doesNotThrowAnyException();
    }
}
