package io.github.distributedpermit.sample.server;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * This process's part in a running server, which does not end before this is closed.
 *
 * @param directory where the server runs
 * @param hold keeps it alive
 * @param link ends when the server does
 */
record Membership(ServerDirectory directory, Closeable hold, ServerLink link) implements Closeable {

    /**
     * Joins the server that listens on the port. Empty if no server listens there, or one that is starting or stopping.
     *
     * @throws PortTakenException if it is not a server of ours
     */
    static Optional<Membership> join(ServerKind kind, int port) throws IOException {
        ServerLink link;
        try {
            link = kind.open(port);
        } catch (EOFException | SocketException e) {
            return Optional.empty();
        } catch (ProtocolException e) {
            throw new PortTakenException(kind, port, Optional.empty());
        }
        try {
            Optional<Path> path = link.directory();
            ServerDirectory directory = path.map(ServerDirectory::new)
                    .filter(ServerDirectory::isOurs)
                    .orElseThrow(() -> new PortTakenException(kind, port, path));
            return Optional.of(new Membership(directory, directory.hold(), link));
        } catch (SocketTimeoutException e) {
            link.close();
            throw new PortTakenException(kind, port, Optional.empty());
        } catch (EOFException | SocketException | NoSuchFileException e) {
            link.close();
            return Optional.empty();
        } catch (IOException | PortTakenException e) {
            link.close();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        link.close();
        hold.close();
    }
}
