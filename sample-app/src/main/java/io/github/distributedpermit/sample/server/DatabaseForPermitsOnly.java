package io.github.distributedpermit.sample.server;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/** The sample uses a database for nothing but its permits: with another store it needs no {@code spring.datasource.url}. */
final class DatabaseForPermitsOnly implements AutoConfigurationImportFilter, EnvironmentAware {

    private String backend = "";

    @Override
    public void setEnvironment(Environment environment) {
        backend = environment.getProperty("distributed-permit.backend", "");
    }

    @Override
    public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
        boolean[] taken = new boolean[classes.length];
        Arrays.fill(taken, true);
        int database = Arrays.asList(classes).indexOf(DataSourceAutoConfiguration.class.getName());
        if (database >= 0) {
            taken[database] = backend.equalsIgnoreCase("jdbc");
        }
        return taken;
    }
}
