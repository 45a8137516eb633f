package io.github.distributedpermit.consulserver;

import org.jspecify.annotations.Nullable;

/** One server for all tests of a JVM that harm none but their own keys. */
public final class SharedConsul {

    private static @Nullable ConsulServer server;

    private SharedConsul() {}

    /** Started when it is first needed; ends with the JVM. */
    public static synchronized ConsulServer get() {
        if (server == null) {
            server = ConsulServer.start();
        }
        return server;
    }
}
