package io.github.distributedpermit.benchmark.servers;

/** A Redis, of one node or several, that counts what it does for its clients. */
public interface ScriptServer {

    /** How many scripts clients have called, whether by name or whole; not what scripts do inside. */
    ScriptCalls scriptCalls();

    /** Processor time that all nodes have used, in seconds. */
    double cpuSeconds();
}
