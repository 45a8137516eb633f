package io.github.distributedpermit.harness.member;

import com.zaxxer.hikari.HikariDataSource;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The application's own database, in runs with one: with another store, Spring Boot would demand its address. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("spring.datasource.url")
@EnableConfigurationProperties(DataSourceProperties.class)
class OwnDatabase {

    @Bean
    HikariDataSource dataSource(DataSourceProperties properties) {
        HikariDataSource pool = properties
                .initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
        pool.setMaximumPoolSize(1); // nothing of the application uses it
        return pool;
    }
}
