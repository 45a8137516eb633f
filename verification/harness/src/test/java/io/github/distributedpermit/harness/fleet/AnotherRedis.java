package io.github.distributedpermit.harness.fleet;

import io.github.distributedpermit.packages.DebianPackages;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Debian's Redis 7 or 8, or Valkey 8, in the place of the embedded Redis 6.2. */
public enum AnotherRedis {
    REDIS_7("7", "redis-server"),
    REDIS_8("8", "redis-server"),
    VALKEY_8("valkey", "valkey-server");

    /** Names the server that all scenarios start. */
    private static final String PROPERTY = "distributed-permit.test.redis-server";

    private static final String NEWER_DEBIAN = "trixie";

    private static final List<String> OF_THE_NEWER = List.of(
            "redis-server",
            "redis-tools",
            "valkey-server",
            "valkey-tools",
            "libc6",
            "libssl3t64",
            "libjemalloc2",
            "liblzf1",
            "libsystemd0",
            "libcap2",
            "libgcc-s1",
            "libstdc++6",
            "libzstd1",
            "zlib1g",
            "liblua5.1-0",
            "lua-cjson",
            "lua-bitop");

    private final String name;
    private final String program;

    AnotherRedis(String name, String program) {
        this.name = name;
        this.program = program;
    }

    /** The one that is called that on the command line. */
    public static AnotherRedis named(String name) {
        return Arrays.stream(values())
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("There is no --redis " + name));
    }

    /** How it is called on the command line. */
    public String option() {
        return "--redis " + name;
    }

    /** Whether another server than the embedded one is in use. */
    static boolean isInUse() {
        return System.getProperty(PROPERTY) != null;
    }

    /** From now on all Redis servers are of it; there must be none yet. */
    public void use() {
        String start = this == REDIS_7 ? withLibrariesOfItsOwn() : withLoaderOfItsOwn();
        System.setProperty(PROPERTY, start);
    }

    private String withLibrariesOfItsOwn() {
        Path root = DebianPackages.unpacked("redis-7", "redis-server", "redis-tools", "libjemalloc2", "liblzf1");
        Path libraries = DebianPackages.file(root, "liblzf.so.1").getParent();
        return script(root, """
                #!/bin/sh
                LD_LIBRARY_PATH='%s' exec '%s' "$@"
                """.formatted(libraries, root.resolve("usr/bin").resolve(program)));
    }

    /** A newer Debian has a newer C library, which needs its own loader. */
    private String withLoaderOfItsOwn() {
        Path root = DebianPackages.unpackedOf(NEWER_DEBIAN, "redis-8", OF_THE_NEWER);
        Path libraries = root.resolve("usr/lib/x86_64-linux-gnu");
        Path loader = libraries.resolve("ld-linux-x86-64.so.2");
        return script(
                root, """
                #!/bin/sh
                exec '%s' --argv0 redis-server --library-path '%s' '%s' "$@"
                """.formatted(loader, libraries, root.resolve("usr/bin").resolve(program)));
    }

    private String script(Path root, String text) {
        Path start = root.resolveSibling(program + ".sh");
        try {
            Files.writeString(start, text);
            if (!start.toFile().setExecutable(true)) {
                throw new IllegalStateException(start + " cannot be made executable");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return start.toString();
    }
}
