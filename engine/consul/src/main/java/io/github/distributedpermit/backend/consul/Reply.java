package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.spi.PermitStoreException;

/**
 * An HTTP reply of the agent, or of a proxy before it. Immutable.
 *
 * <p>{@link ConsulHttp} creates it, and {@link ConsulApi} gives it a meaning.
 *
 * @param status of HTTP
 * @param index {@code X-Consul-Index}, 0 if there is none
 * @param body whatever it is
 */
record Reply(int status, long index, String body) {

    /** Characters of a body in a message, which may be the page of a proxy. */
    private static final int SHOWN = 200;

    boolean isOk() {
        return status == 200;
    }

    /**
     * The failure to report for a status that nothing can be made of. Statuses by which the request itself is refused
     * are permanent. Any other, such as 429 or 500, may be gone at the next attempt.
     */
    PermitStoreException failure(String what) {
        String text = body.length() > SHOWN ? body.substring(0, SHOWN) + "..." : body;
        String message =
                "Consul answered %d to %s: %s".formatted(status, what, text.replaceAll("[\\p{Cntrl}\\s]+", " "));
        if (status == 403 || status == 401) {
            return PermitStoreException.permanent(message + "; check the ACL token and its policy", null);
        }
        if (status == 400 || status == 404 || status == 405 || status == 413) {
            return PermitStoreException.permanent(message, null);
        }
        return PermitStoreException.passing(message, null);
    }

    /**
     * Whether a write that was answered so may have happened, or may yet: an agent answers 500 if it has lost contact with the
     * leader while the write was under way.
     */
    boolean leavesOutcomeUnknown() {
        return status >= 500;
    }
}
