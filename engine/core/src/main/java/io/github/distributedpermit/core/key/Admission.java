package io.github.distributedpermit.core.key;

/** Which calls the queues of this process serve. Each constant admits fewer calls than the one before. */
public enum Admission {

    /** All calls. */
    ALL,

    /** The application is shutting down: calls get a permit that is free, and do not wait for one. */
    WITHOUT_WAITING,

    /** No calls: an operator has drained the instance, or it leaves the store. */
    NONE
}
