/**
 * Permits in the application's relational database: one row per key, which holds the document of the snapshot layer and is
 * changed by check-and-set; one row per member, which expires on the clock of the database. It knows the SPI and nothing else
 * of the project.
 *
 * <p>The classes by what they do, in the order of a claim:
 *
 * <ul>
 *   <li>{@code JdbcPermitBackend} joins a member: two {@code JdbcClient}s, each with a connection and a thread of its own.
 *   <li>{@code JdbcClient} executes the {@code Statements} of the database, which {@code Dialect} has; {@code KeyRows} reads.
 *   <li>{@code JdbcSnapshot} is what a row says, with the members that {@code LiveMembers} knows to be alive.
 *   <li>{@code JdbcLink} opens the connection and replaces it after a failure, which {@code SqlFailures} classifies.
 * </ul>
 */
@NullMarked
package io.github.distributedpermit.backend.jdbc;

import org.jspecify.annotations.NullMarked;
