package io.github.distributedpermit.backend.jdbc;

import org.h2.jdbcx.JdbcDataSource;

/** One database in the memory of this JVM, for all of its tests. */
final class H2 {

    private H2() {}

    static Database database() {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:permits;DB_CLOSE_DELAY=-1");
        return new Database("h2", source);
    }
}
