package io.github.distributedpermit.backend.consul;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;

/**
 * Where Consul is and how to use it.
 *
 * <p>Immutable. Created by the auto-configuration, and checked here so that a wrong value fails at the start of the
 * application.
 *
 * @param address scheme, host, port and perhaps a path in front of {@code /v1}
 * @param token supplies the ACL token for each request, so that a rotated one is used from then on; white space around it,
 *     such as a line break at the end of a file, is no part of it
 * @param tls for {@code https}; the platform's default if absent
 * @param prefix of all keys
 * @param layout how permits lie in Consul
 * @param sessionTtl how long a session outlives its last renewal, at least; Consul takes up to twice that
 * @param requestTimeout of every request that does not wait for a change
 */
public record ConsulSettings(
        URI address,
        Supplier<Optional<String>> token,
        Optional<SSLContext> tls,
        String prefix,
        ConsulLayout layout,
        Duration sessionTtl,
        Duration requestTimeout) {

    /** Consul takes no shorter session. A shorter TTL is refused with status 400 by every request for a session. */
    public static final Duration SHORTEST_TTL = Duration.ofSeconds(10);

    /** Consul takes no longer session. */
    public static final Duration LONGEST_TTL = Duration.ofDays(1);

    /** What Consul 1.21.5 takes; later versions and earlier ones take more. Names with a dot in front are ours. */
    private static final Pattern PREFIX = Pattern.compile("[\\w,?&=-][\\w,.?&=-]*(/[\\w,?&=-][\\w,.?&=-]*)*");

    /** The highest of the ASCII control characters. */
    private static final char DELETE = 0x7f;

    /** Checks the values; what is thrown never shows the token or the address. */
    public ConsulSettings {
        String scheme = String.valueOf(address.getScheme());
        if (!(scheme.equalsIgnoreCase("http") || scheme.equalsIgnoreCase("https")) || address.getHost() == null) {
            throw new IllegalArgumentException("The address of Consul must be http:// or https:// and name a host");
        }
        current(token);
        if (sessionTtl.compareTo(SHORTEST_TTL) < 0 || sessionTtl.compareTo(LONGEST_TTL) > 0) {
            throw new IllegalArgumentException("The TTL of a Consul session must be 10 seconds to 24 hours, but is "
                    + sessionTtl.toMillis() + " ms; set distributed-permit.lease");
        }
        if (requestTimeout.isZero() || requestTimeout.isNegative()) {
            throw new IllegalArgumentException("A request's time-out must be positive, not " + requestTimeout);
        }
        // Consul's own clients collapse slashes in the same way, and a key never begins with one.
        prefix = prefix.replaceAll("/+", "/").replaceAll("^/|/$", "");
        if (prefix.isEmpty()) {
            throw new IllegalArgumentException("The prefix of all keys in Consul must not be empty");
        }
        if (!PREFIX.matcher(prefix).matches()) {
            throw new IllegalArgumentException(
                    "The prefix '" + prefix + "' of all keys in Consul must consist of letters,"
                            + " digits and , _ . - ? & = /, because some versions of Consul refuse to read other keys, and no"
                            + " part of it may begin with a dot; set distributed-permit.key-prefix");
        }
    }

    /** The ACL token for the next request. Throws {@link IllegalArgumentException} if no request can carry it. */
    Optional<String> currentToken() {
        return current(token);
    }

    private static Optional<String> current(Supplier<Optional<String>> supplier) {
        Optional<String> token = supplier.get().map(String::strip).filter(text -> !text.isEmpty());
        if (!token.map(ConsulSettings::isForHeaders).orElse(true)) {
            // whoever sends it would fail with a message that quotes it
            throw new IllegalArgumentException(
                    "The ACL token for Consul has characters that no HTTP header carries: control characters, such as"
                            + " the end of a line, or others than ASCII");
        }
        return token;
    }

    /** The header of a request is ASCII text; the JDK's client would refuse it with the token in the message. */
    private static boolean isForHeaders(String token) {
        return token.chars().allMatch(c -> c >= ' ' && c < DELETE);
    }

    /** An agent without TLS and token, and the defaults. */
    public static ConsulSettings of(URI address, String prefix) {
        return new ConsulSettings(
                address,
                Optional::empty,
                Optional.empty(),
                prefix,
                ConsulLayout.SLOTS,
                Duration.ofSeconds(15),
                Duration.ofSeconds(2));
    }

    /** Says nothing of the token but whether there is one. */
    @Override
    public String toString() {
        return "ConsulSettings[address=%s, token=%s, prefix=%s, layout=%s, sessionTtl=%s]"
                .formatted(address, token.get().isPresent() ? "***" : "none", prefix, layout, sessionTtl);
    }
}
