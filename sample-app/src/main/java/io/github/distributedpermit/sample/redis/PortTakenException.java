package io.github.distributedpermit.sample.redis;

import java.nio.file.Path;
import java.util.Optional;

/** Something else listens on the port of the shared server. */
final class PortTakenException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    PortTakenException(int port, Optional<Path> directory) {
        super("Port %d of this machine is taken by %s"
                .formatted(
                        port,
                        directory
                                .map(path -> "another Redis server, which runs in " + path)
                                .orElse("something that is not a Redis server this application started")));
    }
}
