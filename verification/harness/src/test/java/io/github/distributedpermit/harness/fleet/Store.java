package io.github.distributedpermit.harness.fleet;

import java.util.List;

/** A store of a scenario's own. */
public interface Store extends AutoCloseable {

    /** What a member has to be told to use it. */
    List<String> settings();

    /** The product and its version. */
    String version();

    /** What is left in it of permits, clients and subscriptions; empty when all have left. */
    List<String> residue();

    @Override
    void close();
}
