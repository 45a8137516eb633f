package io.github.distributedpermit.core;

/** Whether giving a permit back waits for the store. */
public enum Release {
    /** The caller goes on at once; the return travels behind it and is repeated until the store confirms it. */
    ASYNC,
    /** The caller waits until the store has confirmed the return, at most for the command time-out. */
    SYNC
}
