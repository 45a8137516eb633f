package io.github.distributedpermit.sample.server;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** A connection that stays open, so that its end shows at once that the server has ended. */
interface ServerLink extends Closeable {

    /** The directory the server was started in; empty if that is not known. */
    Optional<Path> directory() throws IOException;

    /** Returns when the connection has ended, on either side. */
    void awaitEnd();
}
