package io.github.distributedpermit.spi;

/** What this instance knows of one permit name now. Cheap to read from any thread. */
public interface PermitGauges {

    /** The name, as in settings. */
    String name();

    /** Permits that calls of this instance hold, over all keys of the name. */
    int holders();

    /** Calls of this instance that wait, over all keys of the name. */
    int waiters();

    /** The limit of a key: the operator's override as of the last answer of the store, else the configured limit. */
    int limit();
}
