package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.jdbc.JdbcPermitBackend;
import io.github.distributedpermit.backend.jdbc.JdbcSettings;
import io.github.distributedpermit.core.CoreSettings;
import io.github.distributedpermit.spi.PermitBackend;
import io.github.distributedpermit.spi.PermitStoreException;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** A relational database, the application's own. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({DataSource.class, DataSourceUnwrapper.class, ResourceDatabasePopulator.class})
@ConditionalOnBackend(Backend.JDBC)
@ConditionalOnMissingBean(PermitBackend.class)
@EnableConfigurationProperties(JdbcPermitProperties.class)
@Import(DatabaseInitializationDependencyConfigurer.class) // what @DependsOnDatabaseInitialization needs
class JdbcBackendConfiguration {

    private static final Log log = LogFactory.getLog(JdbcBackendConfiguration.class);

    /** SQLStates of a refused login and of a missing database: they may be mended while the application runs, as in other stores. */
    private static final Set<String> LOGIN = Set.of("28", "3D");

    @Bean
    PermitDatabase distributedPermitDatabase(
            @PermitDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> all,
            JdbcPermitProperties jdbc,
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
                            ? "Set spring.datasource.url, or another store with distributed-permit.backend. Beside an R2DBC ConnectionFactory Spring Boot creates no DataSource: declare a bean of it"
                            : "Mark one of them with @PermitDataSource");
        }
        return PermitDatabase.of(chosen, core.commandTimeout(), new PermitSchema(jdbc, core.commandTimeout()));
    }

    @Bean
    @DependsOnDatabaseInitialization
    JdbcPermitBackend jdbcPermitBackend(
            PermitDatabase database,
            JdbcPermitProperties jdbc,
            DistributedPermitProperties properties,
            CoreSettings core) {
        if (database.isPrivate()) {
            if (properties.backend() == null) {
                throw new UnusableBackendException(
                        "The only store for permits that was found is an embedded database, which only this instance uses",
                        "Set distributed-permit.backend=jdbc if that is meant, or spring.datasource.url to a database that all instances share");
            }
            log.warn(
                    "Permits live in an embedded database: limits hold in this instance only. For several instances set spring.datasource.url to a database that all of them share, such as H2 as a server");
        }
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
            String state = e.getCause() instanceof SQLException cause && cause.getSQLState() != null
                    ? cause.getSQLState()
                    : "";
            if (e.isPermanent() && LOGIN.stream().noneMatch(state::startsWith)) {
                throw new UnusableBackendException(
                        "The tables of permits cannot be used: " + e.getMessage(),
                        remedy(state, database, jdbc.tablePrefix()));
            }
            log.warn("Permits cannot be given until their database can be used: " + e.getMessage());
        }
        return backend;
    }

    private static String remedy(String state, PermitDatabase database, String tablePrefix) {
        if (state.isEmpty()) {
            return "Use a database that permits can live in, or set distributed-permit.backend to another store";
        }
        return """
                Have your migration execute this, or set distributed-permit.jdbc.initialize-schema=always and let this user create tables:

                %s
                Where the tables are there and a right is missing:

                GRANT SELECT, INSERT, UPDATE, DELETE ON %2$skey, %2$smember, %2$sepoch TO <this user>""".formatted(database.script(), tablePrefix);
    }
}
