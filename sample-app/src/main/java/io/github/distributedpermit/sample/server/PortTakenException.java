package io.github.distributedpermit.sample.server;

import java.nio.file.Path;
import java.util.Optional;

/** Something else listens on the port of the shared server. */
final class PortTakenException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient ServerKind kind;

    PortTakenException(ServerKind kind, int port, Optional<Path> directory) {
        super("Port %d of this machine is taken by %s"
                .formatted(
                        port,
                        directory
                                .map(path -> "another %s server, which runs in %s".formatted(kind.title(), path))
                                .orElse("something that is not a %s server this application started"
                                        .formatted(kind.title()))));
        this.kind = kind;
    }

    ServerKind kind() {
        return kind;
    }
}
