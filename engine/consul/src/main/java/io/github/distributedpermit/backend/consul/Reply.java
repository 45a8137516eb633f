package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.PermitStoreException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An HTTP reply of the agent, or of a proxy before it. Immutable.
 *
 * <p>A proxy answers for itself while it reloads, has no route, or shows a page for maintenance. Such an answer may have any
 * status and proves nothing, so that a reply counts only if it has what only Consul sends.
 *
 * @param status of HTTP
 * @param index {@code X-Consul-Index}, which Consul sends with each successful read; 0 if there is none
 * @param body whatever it is
 */
record Reply(int status, long index, String body) {

    /** Characters of a body in a message, which may be the page of a proxy. */
    private static final int SHOWN = 200;

    private static final int MALFORMED = 400;
    private static final int DENIED = 403;
    private static final int NOT_FOUND = 404;
    private static final int TOO_LARGE = 413;
    private static final int TOO_MANY = 429;
    private static final int FAILED = 500;

    /**
     * By status, what the texts contain by which Consul refuses a request before it executes anything; in lower case. A
     * proxy sends the same status with another text.
     */
    private static final Map<Integer, List<String>> REFUSALS = Map.of(
            MALFORMED, List.of("failed to parse body"),
            DENIED, List.of("permission denied", "acl not found"),
            TOO_LARGE, List.of("transaction contains too many operations", "request body", "value for key"),
            TOO_MANY, List.of("rate limit"));

    boolean isOk() {
        return status == 200;
    }

    /** Whether Consul has answered a read, with what it has found or with the answer that there is nothing. */
    boolean isRead() {
        return (isOk() || status == NOT_FOUND) && index > 0;
    }

    /** Whether Consul has refused the request before it executed anything. */
    boolean isRefusal() {
        String text = body.toLowerCase(Locale.ROOT);
        return !isPage() && REFUSALS.getOrDefault(status, List.of()).stream().anyMatch(text::contains);
    }

    /**
     * Whether the reply is certainly none of Consul's, given that it is no success. Consul answers 500 with a line of text
     * if anything fails; the texts are too many to be known.
     */
    boolean isForeign() {
        return !isRefusal() && (status != FAILED || isPage());
    }

    /** Consul answers in JSON or plain text. The page of a proxy may contain the same words. */
    private boolean isPage() {
        return body.stripLeading().startsWith("<");
    }

    /**
     * The failure to report for a reply that is no success. Only what Consul itself refuses for reasons that stay is
     * permanent.
     */
    PermitStoreException failure(String what) {
        String message = "%s answered %d to %s: %s"
                .formatted(isForeign() ? "Something other than Consul" : "Consul", status, what, shown());
        if (!isRefusal() || status == TOO_MANY) {
            return PermitStoreException.passing(message, null);
        }
        return PermitStoreException.permanent(
                status == DENIED ? message + "; check the ACL token and its policy" : message, null);
    }

    /** The beginning of the body, in one line. */
    String shown() {
        String text = body.length() > SHOWN ? body.substring(0, SHOWN) + "..." : body;
        return text.replaceAll("[\\p{Cntrl}\\s]+", " ");
    }
}
