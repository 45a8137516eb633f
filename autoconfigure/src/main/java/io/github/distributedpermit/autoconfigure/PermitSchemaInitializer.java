package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.backend.jdbc.JdbcSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

/** Creates the tables of permits from {@code schema-<platform>.sql}, with the prefix that is set for them. */
final class PermitSchemaInitializer extends DataSourceScriptDatabaseInitializer {

    private static final String SCRIPT = "classpath:io/github/distributedpermit/backend/jdbc/schema-@@platform@@.sql";

    /** More than there are statements, each of which may meet another instance once. */
    private static final int ATTEMPTS = 10;

    private final String tablePrefix;

    PermitSchemaInitializer(DataSource dataSource, JdbcPermitProperties properties) {
        super(dataSource, settings(dataSource, properties.initializeSchema()));
        this.tablePrefix = properties.tablePrefix();
    }

    /** Without a script if there is nothing to do, so that a database that is not embedded may be down at the start. */
    private static DatabaseInitializationSettings settings(DataSource dataSource, DatabaseInitializationMode mode) {
        DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
        settings.setMode(mode);
        boolean creates = mode == DatabaseInitializationMode.ALWAYS
                || (mode == DatabaseInitializationMode.EMBEDDED && EmbeddedDatabaseConnection.isEmbedded(dataSource));
        if (creates) {
            settings.setSchemaLocations(locations(dataSource));
        }
        return settings;
    }

    private static List<String> locations(DataSource dataSource) {
        return new PlatformPlaceholderDatabaseDriverResolver().resolveAll(dataSource, SCRIPT);
    }

    /** The statements that create the tables in this database, for an administrator. */
    static String script(DataSource dataSource, String tablePrefix) {
        Resource script =
                new DefaultResourceLoader().getResource(locations(dataSource).get(0));
        return prefixed(script, tablePrefix);
    }

    private static String prefixed(Resource script, String tablePrefix) {
        try {
            return script.getContentAsString(StandardCharsets.UTF_8)
                    .replace(JdbcSettings.DEFAULT_TABLE_PREFIX, tablePrefix);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Of instances that create a table at the same moment, all but one fail: {@code IF NOT EXISTS} does not see what is not
     * committed yet. At the next attempt that table is there.
     */
    @Override
    protected void runScripts(Scripts scripts) {
        List<Resource> prefixed = new ArrayList<>();
        for (Resource script : scripts) {
            prefixed.add(new ByteArrayResource(
                    prefixed(script, tablePrefix).getBytes(StandardCharsets.UTF_8), script.getDescription()));
        }
        Scripts all = new Scripts(prefixed).separator(scripts.getSeparator()).encoding(StandardCharsets.UTF_8);
        for (int attempt = 1; ; attempt++) {
            try {
                super.runScripts(all);
                return;
            } catch (DataAccessException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
