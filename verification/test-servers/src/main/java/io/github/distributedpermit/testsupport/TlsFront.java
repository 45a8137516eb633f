package io.github.distributedpermit.testsupport;

import io.github.distributedpermit.certificates.TestAuthority;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Speaks TLS, with an identity, for a server on this machine that does not. */
public final class TlsFront implements AutoCloseable {

    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "tls-front");
        thread.setDaemon(true);
        return thread;
    });
    private final Queue<Socket> open = new ConcurrentLinkedQueue<>();
    private final ServerSocket listening;
    private final int behind;

    /**
     * Listens on a free port.
     *
     * @param identity a key store that {@link TestAuthority} has written
     * @param behind the server's port
     */
    public TlsFront(Path identity, int behind) {
        this.behind = behind;
        try {
            listening = context(identity)
                    .getServerSocketFactory()
                    .createServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        threads.execute(this::accept);
    }

    private static SSLContext context(Path identity) {
        char[] password = TestAuthority.STORE_PASSWORD.toCharArray();
        try (InputStream in = Files.newInputStream(identity)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(in, password);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, password);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Where it listens on 127.0.0.1. */
    public int port() {
        return listening.getLocalPort();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                Socket server = new Socket("127.0.0.1", behind);
                open.add(client);
                open.add(server);
                threads.execute(() -> pump(client, server));
                threads.execute(() -> pump(server, client));
            } catch (IOException e) {
                Thread.onSpinWait(); // closed, or no server is behind it
            }
        }
    }

    private static void pump(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            Thread.onSpinWait(); // one of them has hung up, or does not trust us
        }
    }

    @Override
    public void close() {
        threads.shutdown();
        try {
            listening.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
