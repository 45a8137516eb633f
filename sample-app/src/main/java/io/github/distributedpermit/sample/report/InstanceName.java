package io.github.distributedpermit.sample.report;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** Names this instance for people: {@code application@host:port}. */
@Component
class InstanceName {

    private final Environment environment;
    private final String host;

    InstanceName(Environment environment) {
        this.environment = environment;
        this.host = hostName();
    }

    String get() {
        // asked for late: with server.port=0 the port is known only once the server listens
        return environment.getProperty("spring.application.name", "application")
                + "@"
                + host
                + ":"
                + environment.getProperty("local.server.port", "-");
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return InetAddress.getLoopbackAddress().getHostName();
        }
    }
}
