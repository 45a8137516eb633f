package io.github.distributedpermit.backend.jdbc;

/**
 * A {@code DataSource} that has connections for permits only: they may go back to it with the settings of this library. Those of
 * any other one are aborted when they are not needed any more.
 */
public interface OwnConnections {}
