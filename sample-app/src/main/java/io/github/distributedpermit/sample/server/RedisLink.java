package io.github.distributedpermit.sample.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** One plain connection to whatever listens on a port of this machine. */
final class RedisLink implements ServerLink {

    private static final int TIMEOUT_MILLIS = 2_000;
    private static final int LONGEST_REPLY = 4_096;

    private final Socket socket;
    private final InputStream in;

    private RedisLink(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /** Connects, or fails with {@link java.net.ConnectException} if no server listens. */
    static RedisLink open(int port) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(ServerKind.address(port), TIMEOUT_MILLIS);
            socket.setSoTimeout(TIMEOUT_MILLIS);
            return new RedisLink(socket);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public Optional<Path> directory() throws IOException {
        socket.getOutputStream().write("CONFIG GET dir\r\n".getBytes(StandardCharsets.US_ASCII));
        // an array of two texts: "dir" and its value
        if (!line().equals("*2") || !text().equals("dir")) {
            return Optional.empty();
        }
        return Optional.of(Path.of(text()));
    }

    @Override
    public void awaitEnd() {
        try {
            socket.setSoTimeout(0);
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // that is the end, too
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private String text() throws IOException {
        line();
        return line();
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0 || line.size() > LONGEST_REPLY) {
                throw new EOFException("The reply ends without a line");
            }
            line.write(c);
        }
        return line.toString(StandardCharsets.UTF_8).strip();
    }
}
