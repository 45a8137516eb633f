package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.jdbc.JdbcPermitBackend;
import io.github.distributedpermit.backend.jdbc.JdbcSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStoreException;
import java.util.List;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A relational database, the application's own. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({DataSource.class, DataSourceScriptDatabaseInitializer.class})
@ConditionalOnBackend(Backend.JDBC)
@ConditionalOnMissingBean(PermitBackend.class)
@EnableConfigurationProperties(JdbcPermitProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class) // what @DependsOnDatabaseInitialization needs
class JdbcBackendConfiguration {

    private static final Log log = LogFactory.getLog(JdbcBackendConfiguration.class);

    @Bean
    PermitDatabase distributedPermitDatabase(
            @PermitDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> all,
            DistributedPermitProperties properties,
            CoreSettings core) {
        DataSource chosen = marked.getIfUnique();
        if (chosen == null) {
            chosen = all.getIfUnique();
        }
        if (chosen == null) {
            List<DataSource> several = all.stream().toList();
            throw new UnusableBackendException(
                    "Permits are to live in the application's database, but the application has %s DataSource beans%s"
                            .formatted(
                                    several.isEmpty() ? "no" : several.size(),
                                    several.isEmpty() ? "" : ", none of them primary"),
                    several.isEmpty()
                            ? "Set spring.datasource.url, or another store with distributed-permit.backend"
                            : "Mark one of them with @PermitDataSource");
        }
        if (properties.backend() == null && EmbeddedDatabaseConnection.isEmbedded(chosen)) {
            throw new UnusableBackendException(
                    "The only store for permits that was found is an embedded database, which only this instance uses",
                    "Set distributed-permit.backend=jdbc if that is meant, or spring.datasource.url to a database that all instances share");
        }
        if (properties.backend() == null) {
            log.info("Permits live in the application's database, since there is no client of another store");
        }
        return PermitDatabase.of(chosen, core.commandTimeout());
    }

    @Bean
    PermitSchemaInitializer distributedPermitSchemaInitializer(
            PermitDatabase database, JdbcPermitProperties properties) {
        return new PermitSchemaInitializer(database.application(), properties);
    }

    @Bean
    @DependsOnDatabaseInitialization
    JdbcPermitBackend jdbcPermitBackend(
            PermitDatabase database,
            JdbcPermitProperties jdbc,
            DistributedPermitProperties properties,
            CoreSettings core) {
        JdbcPermitBackend backend = new JdbcPermitBackend(
                database.connections(),
                database.address(),
                JdbcSettings.of(
                        new SettingsReader(properties).keyPrefix(),
                        jdbc.tablePrefix(),
                        core.lease(),
                        core.commandTimeout()));
        try {
            backend.checkTables();
        } catch (PermitStoreException e) {
            if (e.isPermanent()) {
                throw new UnusableBackendException(
                        "The tables of permits cannot be used: " + e.getMessage(),
                        "Have your migration execute this, or set distributed-permit.jdbc.initialize-schema=always:\n\n"
                                + PermitSchemaInitializer.script(database.application(), jdbc.tablePrefix()));
            }
            log.warn("The database of permits cannot be reached yet: " + e.getMessage());
        }
        return backend;
    }
}
