package io.github.distributedpermit.harness.fleet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A store of a scenario's own. */
public interface Store extends AutoCloseable {

    /** What a member has to be told to use it. */
    List<String> settings();

    /** The product and its version. */
    String version();

    /** What is left in it of permits, clients and subscriptions; empty when all have left. */
    List<String> residue();

    /** The settings of the member of that number, where members differ in them. */
    default List<String> settings(int member) {
        return settings();
    }

    /** Copies the servers' own logs to a run's records, where they help to explain what came of it. */
    default void keepLogs(Path folder) throws IOException {}

    @Override
    void close();
}
