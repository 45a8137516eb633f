package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.spi.PermitStoreException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Consul's HTTP interface as far as this backend uses it: sessions, transactions and the blocking query. Translates replies, and
 * failures into {@link PermitStoreException}; a transaction can also fail with {@link OutcomeUnknownException}. Confined to
 * the event loop, on which all stages end.
 *
 * <p>An answer counts only if it can only have come from Consul: it has the index that Consul sends with each read, or the
 * JSON that belongs to the request. Any other is no answer, renews no session and ends none.
 *
 * <p>It distinguishes three kinds of failure: nothing was sent or executed, the outcome is unknown, and a refusal that says
 * why.
 */
final class ConsulApi {

    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    /** Of a transaction that was refused by one of its operations. */
    private static final int CONFLICT = 409;

    /** How many causes of an exception are looked at; a chain may contain itself. */
    private static final int MAX_CAUSES = 16;

    private static final System.Logger LOG = System.getLogger(ConsulApi.class.getName());

    private final ConsulHttp http;
    private final ConsulSettings settings;
    private final RateLimitedLog foreign;

    ConsulApi(ConsulHttp http, ConsulSettings settings) {
        this.http = http;
        this.settings = settings;
        this.foreign = new RateLimitedLog(LOG, http::now);
    }

    /**
     * Makes a session that nothing but its TTL ends, and that takes its keys with it. A session that an unanswered
     * request has created is never renewed, and ends after its TTL.
     */
    CompletableFuture<String> createSession(String name) {
        return created(http.putNow("session/create", session(name)));
    }

    /**
     * The same for a session that a claim needs; the request waits for its turn with those of claims.
     *
     * @param sending runs immediately before the request is sent
     */
    CompletableFuture<String> createAdditionalSession(String name, Runnable sending) {
        return created(http.put("session/create", session(name), sending));
    }

    private String session(String name) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("Name", name);
        body.put("TTL", settings.sessionTtl().toMillis() + "ms");
        body.put("Behavior", "delete"); // the permits of a crashed member are free without a clean-up by others
        body.put("LockDelay", "0s"); // by default no session could lock the slots of an ended one for 15 s
        body.put(
                "NodeChecks", List.of()); // by default a crash of the agent would end the sessions of live applications
        return JsonText.of(body);
    }

    private CompletableFuture<String> created(CompletableFuture<Reply> answer) {
        return answer.thenApply(reply -> read(
                        reply,
                        "the creation of a session",
                        text -> Json.object(text).text("ID")))
                .exceptionally(failure -> fail("Consul did not create a session", failure));
    }

    /**
     * Whether the session was renewed. Consul's answer contains the session; any other success is a failure here.
     *
     * @return {@code false} if the answer was 404: the session may have ended. A server that has not replayed its log answers
     *     so as well, and so does a proxy, so that only a {@linkplain #confirm consistent transaction} shows a loss
     */
    CompletableFuture<Boolean> renewSession(String session) {
        return http.putNow("session/renew/" + session, "")
                .thenApply(reply -> reply.status() != NOT_FOUND
                        && read(reply, "the renewal of a session", text -> renewed(session, text)))
                .exceptionally(failure -> fail("Consul did not renew the session", failure));
    }

    /** Throws {@link MalformedJsonException} if the text is not about this session. */
    private static boolean renewed(String session, String text) {
        if (JsonObject.objects(Json.parse(text)).stream()
                .noneMatch(entry -> entry.text("ID").equals(session))) {
            throw new MalformedJsonException("The session is not among those that were renewed");
        }
        return true;
    }

    /**
     * With behavior {@code delete} Consul also deletes all keys that the session has locked, so that permits and
     * queue entries of the member vanish in one step.
     */
    CompletableFuture<Boolean> destroySession(String session) {
        return http.putNow("session/destroy/" + session, "")
                .thenApply(reply -> read(reply, "the end of a session", text -> Json.parse(text) == Boolean.TRUE))
                .exceptionally(failure -> fail("Consul did not end the session", failure));
    }

    /** No more requests follow. */
    void close() {
        http.close();
    }

    /**
     * A blocking query of all keys with a prefix. The reply is one of Consul's: 200, or 404 if there is none of them.
     *
     * @param index returns when the prefix has a higher one; 0 returns at once
     * @param wait after which Consul answers although nothing has changed
     */
    CompletableFuture<Reply> watch(String prefix, long index, Duration wait) {
        // Consul adds up to a sixteenth of jitter
        Duration timeout = index == 0
                ? settings.requestTimeout()
                : wait.multipliedBy(17).dividedBy(16).plus(settings.requestTimeout());
        return http.watch(
                        "kv/%s?recurse&index=%d&wait=%dms"
                                .formatted(PathEncoding.encode(prefix), index, wait.toMillis()),
                        timeout)
                .thenApply(reply -> {
                    if (!reply.isRead()) {
                        throw failure(reply, "a blocking query");
                    }
                    return reply;
                })
                .exceptionally(failure -> fail("Consul did not answer a blocking query", failure));
    }

    /** The names of all keys with a prefix, sent on the connection of the blocking query; a reply of any status. */
    CompletableFuture<Reply> names(String prefix) {
        return http.watch("kv/%s?keys".formatted(PathEncoding.encode(prefix)), settings.requestTimeout());
    }

    /** What lies directly below a prefix, with a slash at the end of what lies above other keys. */
    CompletableFuture<List<String>> namesBelow(String prefix) {
        return http.watch("kv/%s?keys&separator=%%2F".formatted(PathEncoding.encode(prefix)), settings.requestTimeout())
                .thenApply(reply -> reply.status() == NOT_FOUND && reply.isRead()
                        ? List.<String>of()
                        : read(reply, "the list of keys", text -> JsonObject.texts(Json.parse(text))))
                .exceptionally(failure -> fail("Consul did not list the keys", failure));
    }

    /** Throws {@link MalformedJsonException} if the reply is not Consul's. */
    static List<String> names(Reply reply) {
        return JsonObject.texts(Json.parse(reply.body()));
    }

    /** The entries of a watch's reply. Throws {@link MalformedJsonException} if the reply is not Consul's. */
    static List<KeyValue> entries(Reply reply) {
        return JsonObject.objects(Json.parse(reply.body())).stream()
                .map(KeyValue::of)
                .toList();
    }

    /**
     * A transaction whose last operation is a {@code get-tree}. Fails with {@link OutcomeUnknownException} if it may
     * have happened, or may yet. The request waits in the limiter of {@link ConsulHttp} if too many are under way.
     */
    CompletableFuture<TxnOutcome> transact(List<TxnOperation> ops) {
        return outcome(ops, http.put("txn", body(ops)));
    }

    /** The same for the fence, for which others wait: goes ahead of all that waits for its turn. */
    CompletableFuture<TxnOutcome> transactNow(List<TxnOperation> ops) {
        return outcome(ops, http.putNow("txn", body(ops)));
    }

    /**
     * A transaction that only reads, answered by a leader that has applied everything ever written. Any other read may
     * be answered by a leader that has not replayed all of its log yet.
     */
    CompletableFuture<TxnOutcome> readConsistently(List<TxnOperation> ops) {
        return outcome(ops, http.put("txn?consistent", body(ops)));
    }

    /**
     * The same for a read by which the loss of a session is confirmed. No other answer confirms one: it names the keys of the
     * session, and a token without the right to read them gets another one.
     */
    CompletableFuture<TxnOutcome> confirm(List<TxnOperation> ops) {
        return outcome(ops, http.putNow("txn?consistent", body(ops)));
    }

    private static String body(List<TxnOperation> ops) {
        return JsonText.of(ops.stream().map(op -> Map.of("KV", op.json())).toList());
    }

    /**
     * Decides what an answer says about the transaction. Every case that is not certain counts as an unknown outcome;
     * to count it as a failure could grant a permit twice.
     */
    private CompletableFuture<TxnOutcome> outcome(List<TxnOperation> ops, CompletableFuture<Reply> answer) {
        return answer.handle((reply, failure) -> {
            if (failure != null && PermitStoreException.causeOf(failure) instanceof PermitStoreException unsent) {
                throw unsent;
            }
            if (failure != null) {
                throw new OutcomeUnknownException("Consul did not answer a transaction: " + reason(failure), failure);
            }
            if (reply.isRefusal()) {
                throw reply.failure("a transaction");
            }
            if (reply.status() != OK && reply.status() != CONFLICT) {
                PermitStoreException known = failure(reply, "a transaction");
                throw new OutcomeUnknownException(String.valueOf(known.getMessage()), known);
            }
            try {
                return TxnOutcome.of(ops, Json.object(reply.body()));
            } catch (MalformedJsonException e) {
                // Whether the transaction was executed is unknown.
                PermitStoreException known = malformed(reply, "a transaction", e);
                throw new OutcomeUnknownException(String.valueOf(known.getMessage()), known);
            }
        });
    }

    /** For requests other than transactions: they can be repeated, so that a failure needs no unknown outcome. */
    private <T> T read(Reply reply, String what, Function<String, T> reader) {
        if (!reply.isOk()) {
            throw failure(reply, what);
        }
        try {
            return reader.apply(reply.body());
        } catch (MalformedJsonException e) {
            throw malformed(reply, what, e);
        }
    }

    /** The failure for a reply that is no success, or has no index where Consul sends one. */
    private PermitStoreException failure(Reply reply, String what) {
        if (reply.isForeign()) {
            foreign(reply, what);
        }
        return reply.failure(what);
    }

    /** The failure for a success whose text does not belong to the request. */
    private PermitStoreException malformed(Reply reply, String what, MalformedJsonException reason) {
        foreign(reply, what);
        return PermitStoreException.passing(
                "The answer %d to %s is none of Consul's: %s".formatted(reply.status(), what, reason.getMessage()),
                reason);
    }

    private void foreign(Reply reply, String what) {
        foreign.warn(
                "Something other than Consul answered %d to %s at %s: %s. The answer is ignored and the request is repeated;"
                                .formatted(reply.status(), what, settings.address(), reply.shown())
                        + " permits stay valid for a TTL of the session after Consul last renewed it. Check the proxy or load balancer before"
                        + " Consul, and the address");
    }

    /** The core repeats a claim after a passing failure; a permanent one fails all waiting calls at once. */
    private static <T> T fail(String message, Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        if (cause instanceof PermitStoreException known) {
            throw known;
        }
        String text = message + ": " + reason(cause);
        if (isUntrusted(cause)) {
            throw PermitStoreException.permanent(
                    text + "; check the names in the certificate of Consul, and the authorities the connection trusts",
                    cause);
        }
        throw PermitStoreException.passing(text, cause);
    }

    /** Whether a certificate was refused: an operator has to act, and repetition does not help. */
    private static boolean isUntrusted(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
            if (cause instanceof CertificateException) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /**
     * The class of the exception is part of it, because the messages of many of them, such as a refused connection,
     * are empty.
     */
    private static String reason(Throwable failure) {
        Throwable cause = PermitStoreException.causeOf(failure);
        String message = cause.getMessage();
        return cause.getClass().getSimpleName() + (message == null ? "" : ": " + message);
    }

    /**
     * The outcome of the transaction is unknown: it may have been made, or may be made later. {@link KeyCommitter}
     * and {@link Membership} look for it; all other classes see a passing failure.
     */
    static final class OutcomeUnknownException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        OutcomeUnknownException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
