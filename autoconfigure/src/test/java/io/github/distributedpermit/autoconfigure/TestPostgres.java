package io.github.distributedpermit.autoconfigure;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;

/** Builds PostgreSQL servers that have a minute to start, since other tests may use all processors; the default is ten seconds. Stateless. */
final class TestPostgres {

    private TestPostgres() {}

    static EmbeddedPostgres.Builder builder() {
        return EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1));
    }
}
