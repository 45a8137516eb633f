package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.packages.DebianPackages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Debian's Redis 7 in the place of the embedded 6.2. */
public final class Redis7 {

    /** Names the server that all scenarios start. */
    private static final String PROPERTY = "distributed-permit.test.redis-server";

    private Redis7() {}

    /** Whether another server than the embedded one is in use. */
    static boolean isInUse() {
        return System.getProperty(PROPERTY) != null;
    }

    /** From now on all Redis servers are of it; there must be none yet. */
    public static void use() {
        Path root = DebianPackages.unpacked("redis-7", "redis-server", "redis-tools", "libjemalloc2", "liblzf1");
        Path libraries = DebianPackages.file(root, "liblzf.so.1").getParent();
        Path start = root.resolveSibling("redis-server.sh");
        String script = """
                #!/bin/sh
                LD_LIBRARY_PATH='%s' exec '%s' "$@"
                """.formatted(libraries, root.resolve("usr/bin/redis-server"));
        try {
            Files.writeString(start, script);
            if (!start.toFile().setExecutable(true)) {
                throw new IllegalStateException(start + " cannot be made executable");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        System.setProperty(PROPERTY, start.toString());
    }
}
