package io.github.distributedpermit.testsupport;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import redis.embedded.core.ExecutableProvider;

/**
 * The {@code redis-server} that tests run: the one of the embedded-redis artifact, or another by the system property
 * {@value #PROPERTY}.
 */
final class RedisBinary {

    static final String PROPERTY = "distributed-permit.test.redis-server";

    private static final File EXECUTABLE = find();

    private RedisBinary() {}

    static String path() {
        return EXECUTABLE.getPath();
    }

    private static File find() {
        String given = System.getProperty(PROPERTY);
        if (given != null && !given.isBlank()) {
            return new File(given);
        }
        try {
            Path directory = Files.createTempDirectory("distributed-permit-redis-bin");
            File executable = ExecutableProvider.newJarResourceProvider(directory.toFile())
                    .get();
            executable.deleteOnExit();
            directory.toFile().deleteOnExit();
            return executable;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
