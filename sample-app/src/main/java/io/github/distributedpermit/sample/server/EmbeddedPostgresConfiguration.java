package io.github.distributedpermit.sample.server;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Connects the application to the shared database, unless the user named another one. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "distributed-permit.backend", havingValue = "jdbc")
@ConditionalOnExpression("'${spring.datasource.url:}'.isEmpty()")
class EmbeddedPostgresConfiguration {

    @Bean
    SharedServer embeddedPostgres(
            @Value("${sample.embedded-postgres.port}") int port,
            ObjectProvider<DataSourceScriptDatabaseInitializer> initializers) {
        return new SharedServer(
                new PostgresKind(),
                port,
                () -> initializers.forEach(DataSourceScriptDatabaseInitializer::initializeDatabase));
    }

    // takes the server as an argument, so that every connection is closed before this instance lets go of the server
    @Bean
    JdbcConnectionDetails embeddedPostgresConnectionDetails(SharedServer server) {
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return PostgresLink.url(server.port());
            }

            @Override
            public String getUsername() {
                return PostgresLink.USER;
            }

            @Override
            public String getPassword() {
                return "";
            }
        };
    }
}
