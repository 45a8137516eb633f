package io.github.distributedpermit.certificates;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.UUID;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/** A certificate authority of a test, which issues certificates to servers for a day. */
public final class TestAuthority {

    /** Of every store that is written. */
    public static final String STORE_PASSWORD = "changeit";

    private final Path directory;
    private final KeyPair keys;
    private final String name;
    private final X509Certificate certificate;

    private TestAuthority(Path directory, KeyPair keys, String name) {
        this.directory = directory;
        this.keys = keys;
        this.name = name;
        this.certificate = sign(name, keys, name, keys, null);
    }

    /** A new one, in no trust store yet; what it issues is written to the directory. */
    public static TestAuthority in(Path directory) {
        return new TestAuthority(directory, newKeys(), "Authority " + UUID.randomUUID());
    }

    /** A certificate for a server of that name, and its key, as PEM files. */
    public Issued issue(String host) {
        KeyPair pair = newKeys();
        X509Certificate issued = sign(host, pair, name, keys, host);
        return new Issued(
                pem(host + ".crt", "CERTIFICATE", encoded(issued)),
                pem(host + ".key", "PRIVATE KEY", pair.getPrivate().getEncoded()));
    }

    /** Its own certificate, as a PEM file. */
    public Path certificate() {
        return pem("authority.crt", "CERTIFICATE", encoded(certificate));
    }

    /** A key store that holds its own certificate and nothing else. */
    public Path trustStore(String type) {
        return store(type, "trust." + type, store -> store.setCertificateEntry("authority", certificate));
    }

    /** A key store of type PKCS12 with a certificate that it has issued, and its key. */
    public Path identityStore(String host) {
        KeyPair pair = newKeys();
        Certificate[] chain = {sign(host, pair, name, keys, host), certificate};
        return store(
                "PKCS12",
                host + ".p12",
                store -> store.setKeyEntry(host, pair.getPrivate(), STORE_PASSWORD.toCharArray(), chain));
    }

    private Path store(String type, String file, Content content) {
        Path path = directory.resolve(file);
        try (OutputStream out = Files.newOutputStream(path)) {
            KeyStore store = KeyStore.getInstance(type);
            store.load(null, null);
            content.addTo(store);
            store.store(out, STORE_PASSWORD.toCharArray());
            return path;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    @FunctionalInterface
    private interface Content {
        void addTo(KeyStore store) throws GeneralSecurityException;
    }

    private static X509Certificate sign(String subject, KeyPair of, String issuer, KeyPair by, @Nullable String host) {
        try {
            Instant now = Instant.now();
            X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                    new X500Principal("CN=" + issuer),
                    new BigInteger(64, new SecureRandom()),
                    Date.from(now.minus(Duration.ofHours(1))),
                    Date.from(now.plus(Duration.ofDays(1))),
                    new X500Principal("CN=" + subject),
                    of.getPublic());
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(host == null));
            if (host != null) {
                builder.addExtension(
                        Extension.subjectAlternativeName,
                        false,
                        new GeneralNames(new GeneralName(GeneralName.dNSName, host)));
            }
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(by.getPrivate())));
        } catch (CertIOException | OperatorCreationException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(256);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Path pem(String name, String type, byte[] content) {
        String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        try {
            return Files.writeString(
                    directory.resolve(name), "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(type, body, type));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * What a server shows and what proves that it is its own.
     *
     * @param certificate a PEM file
     * @param key a PEM file
     */
    public record Issued(Path certificate, Path key) {}
}
