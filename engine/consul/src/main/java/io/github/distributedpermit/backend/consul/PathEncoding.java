package io.github.distributedpermit.backend.consul;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Percent-encodes a key for the path of a URL; slashes stay, because Consul takes them as part of a key. Stateless. */
final class PathEncoding {

    private PathEncoding() {}

    /** The JDK encodes for forms, where a space is a plus sign; in a path it has to be {@code %20}. */
    static String encode(String key) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%2F", "/");
    }
}
