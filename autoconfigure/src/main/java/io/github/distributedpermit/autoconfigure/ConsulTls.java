package io.github.distributedpermit.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.cloud.consul.ConsulProperties;
import org.springframework.cloud.consul.ConsulProperties.TLSConfig;

/** What {@code spring.cloud.consul.tls.*} says: a certificate of the client, and whom it trusts. */
final class ConsulTls {

    private ConsulTls() {}

    /** Empty: the platform's own trust, if the scheme is https. */
    static Optional<SSLContext> context(ConsulProperties where) {
        TLSConfig tls = where.getTls();
        if (tls == null) {
            return Optional.empty();
        }
        try {
            String type = tls.getKeyStoreInstanceType() == null
                    ? KeyStore.getDefaultType()
                    : tls.getKeyStoreInstanceType().name();
            KeyStore own = load(type, tls.getCertificatePath(), tls.getCertificatePassword());
            KeyStore trusted = load("JKS", tls.getKeyStorePath(), tls.getKeyStorePassword());
            SslStoreBundle stores = SslStoreBundle.of(own, tls.getCertificatePassword(), trusted);
            return Optional.of(SslBundle.of(stores).createSslContext());
        } catch (IOException | GeneralSecurityException | IllegalStateException e) {
            // the cause may quote what it read
            throw new UnusableBackendException(
                    "The key stores of spring.cloud.consul.tls cannot be read ("
                            + e.getClass().getSimpleName() + ")",
                    "Correct their paths, passwords and spring.cloud.consul.tls.key-store-instance-type");
        }
    }

    private static @Nullable KeyStore load(String type, @Nullable String path, @Nullable String password)
            throws IOException, GeneralSecurityException {
        if (path == null) {
            return null;
        }
        KeyStore store = KeyStore.getInstance(type);
        try (InputStream source = Files.newInputStream(Path.of(path))) {
            store.load(source, password == null ? null : password.toCharArray());
        }
        return store;
    }
}
