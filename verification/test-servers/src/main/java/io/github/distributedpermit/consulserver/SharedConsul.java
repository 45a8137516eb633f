package io.github.distributedpermit.consulserver;

import io.github.distributedpermit.testsupport.Once;

/** One server for all tests of a JVM that harm none but their own keys. */
public final class SharedConsul {

    private static final Once<ConsulServer> SERVER = new Once<>(ConsulServer::start);

    private SharedConsul() {}

    /** Started when it is first needed; ends with the JVM. */
    public static ConsulServer get() {
        return SERVER.get();
    }
}
