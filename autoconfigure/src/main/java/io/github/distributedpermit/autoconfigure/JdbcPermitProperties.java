package io.github.distributedpermit.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Settings of permits in a relational database.
 *
 * @param initializeSchema When the tables of permits are created at start, if they do not exist.
 * @param tablePrefix What the names of the tables begin with; may name a schema, such as 'permits.distributed_permit_'.
 */
@ConfigurationProperties("distributed-permit.jdbc")
record JdbcPermitProperties(
        @DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
        @DefaultValue("distributed_permit_") String tablePrefix) {}
