package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.ports.FreePorts;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;

/**
 * Builds PostgreSQL servers that have a minute to start, since other tests may use all processors; the default is ten seconds. No
 * connection takes their port before they bind it. Stateless.
 */
final class TestPostgres {

    private TestPostgres() {}

    static EmbeddedPostgres.Builder builder() {
        return EmbeddedPostgres.builder().setPort(FreePorts.some(1).get(0)).setPGStartupWait(Duration.ofMinutes(1));
    }
}
