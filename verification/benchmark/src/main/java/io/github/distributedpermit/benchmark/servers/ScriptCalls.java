package io.github.distributedpermit.benchmark.servers;

import java.util.Locale;

/**
 * Calls of scripts, or executions of statements, since the start of a server.
 *
 * @param calls how many
 * @param micros how long they took on the server
 */
public record ScriptCalls(long calls, long micros) {

    /** What came since then. */
    public ScriptCalls since(ScriptCalls before) {
        return new ScriptCalls(calls - before.calls, micros - before.micros);
    }

    /** Those of two servers together. */
    ScriptCalls plus(ScriptCalls other) {
        return new ScriptCalls(calls + other.calls, micros + other.micros);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d calls, %d us", calls, micros);
    }
}
