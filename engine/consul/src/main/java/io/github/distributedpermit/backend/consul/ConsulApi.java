package io.github.distributedpermit.backend.consul;

import io.github.distributedpermit.backend.consul.Json.MalformedJsonException;
import io.github.distributedpermit.backend.consul.TxnOutcome.Done;
import io.github.distributedpermit.backend.consul.TxnOutcome.Refused;
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
 * <p>{@link Membership}, {@link KeyReader}, {@link KeyCommitter} and the others call it; it sends through {@link
 * ConsulHttp}. It distinguishes three kinds of failure: nothing was sent or executed, the outcome is unknown, and a
 * refusal that says why.
 */
final class ConsulApi {

    /** How many causes of an exception are looked at; a chain may contain itself. */
    private static final int MAX_CAUSES = 16;

    private final ConsulHttp http;
    private final ConsulSettings settings;

    ConsulApi(ConsulHttp http, ConsulSettings settings) {
        this.http = http;
        this.settings = settings;
    }

    /**
     * Makes a session that nothing but its TTL ends, and that takes its keys with it. A session that an unanswered
     * request has created is never renewed, and ends after its TTL.
     */
    CompletableFuture<String> createSession(String name) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("Name", name);
        body.put("TTL", settings.sessionTtl().toMillis() + "ms");
        body.put("Behavior", "delete"); // the permits of a crashed member are free without a clean-up by others
        body.put("LockDelay", "0s"); // by default no session could lock the slots of an ended one for 15 s
        body.put(
                "NodeChecks", List.of()); // by default a crash of the agent would end the sessions of live applications
        return http.putNow("session/create", JsonText.of(body))
                .thenApply(reply -> read(
                        reply,
                        "the creation of a session",
                        text -> Json.object(text).text("ID")))
                .exceptionally(failure -> fail("Consul did not create a session", failure));
    }

    /**
     * Whether the session was alive. A reply of 404 is confirmed first, because a server that has not replayed its
     * log gives the same reply for a live session.
     */
    CompletableFuture<Boolean> renewSession(String session) {
        return http.putNow("session/renew/" + session, "")
                .thenCompose(reply -> reply.status() == 404
                        ? isKnown(session)
                        : CompletableFuture.completedFuture(read(reply, "the renewal of a session", text -> true)))
                .exceptionally(failure -> fail("Consul did not renew the session", failure));
    }

    /**
     * Fails if there is such a session after all, for then it was not renewed. See {@link #consistent}.
     *
     * @return {@code false} if a consistent read shows that there is no such session
     */
    private CompletableFuture<Boolean> isKnown(String session) {
        return http.get("session/info/" + session + "?consistent").thenApply(reply -> {
            if (reply.isOk() && !reply.body().contains(session)) {
                return false;
            }
            throw PermitStoreException.passing("Consul did not know the session for a moment", null);
        });
    }

    /**
     * With behavior {@code delete} Consul also deletes all keys that the session has locked, so that permits and
     * queue entries of the member vanish in one step.
     */
    CompletableFuture<Boolean> destroySession(String session) {
        return http.putNow("session/destroy/" + session, "")
                .thenApply(reply -> read(reply, "the end of a session", text -> true))
                .exceptionally(failure -> fail("Consul did not end the session", failure));
    }

    /** No more requests follow. */
    void close() {
        http.close();
    }

    /**
     * All keys with a prefix, as a leader has them that knows all that was ever written; a reply of any status. A server
     * that has just come back, or just been made the leader, answers other reads before it has read all of its log.
     */
    CompletableFuture<Reply> consistent(String prefix) {
        return http.get("kv/%s?recurse&consistent".formatted(PathEncoding.encode(prefix)));
    }

    /**
     * A blocking query of all keys with a prefix; a reply of any status.
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
                .exceptionally(failure -> fail("Consul did not answer a blocking query", failure));
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

    private static String body(List<TxnOperation> ops) {
        return JsonText.of(ops.stream().map(op -> Map.of("KV", op.json())).toList());
    }

    /**
     * Decides what an answer says about the transaction. Every case that is not certain counts as an unknown outcome;
     * to count it as a failure could grant a permit twice.
     */
    private static CompletableFuture<TxnOutcome> outcome(List<TxnOperation> ops, CompletableFuture<Reply> answer) {
        return answer.handle((reply, failure) -> {
            if (failure != null && PermitStoreException.causeOf(failure) instanceof PermitStoreException unsent) {
                throw unsent;
            }
            if (failure != null) {
                throw new OutcomeUnknownException("Consul did not answer a transaction: " + reason(failure), failure);
            }
            if (reply.leavesOutcomeUnknown()) {
                PermitStoreException known = reply.failure("a transaction");
                throw new OutcomeUnknownException(String.valueOf(known.getMessage()), known);
            }
            // Such as 403 or 413: Consul has refused the request before it executed anything.
            if (reply.status() != 200 && reply.status() != 409) {
                throw reply.failure("a transaction");
            }
            try {
                return outcome(ops, Json.object(reply.body()));
            } catch (MalformedJsonException e) {
                // The transaction was executed, but its result cannot be read.
                throw new OutcomeUnknownException(
                        "Consul's answer to a transaction makes no sense: " + e.getMessage(), e);
            }
        });
    }

    /**
     * Consul answers operations in their order; those that delete or check absence have no result. Throws {@link
     * MalformedJsonException} if the answer does not fit the operations.
     */
    private static TxnOutcome outcome(List<TxnOperation> ops, JsonObject json) {
        List<JsonObject> errors = json.objects("Errors");
        if (!errors.isEmpty()) {
            List<Integer> operations =
                    errors.stream().map(error -> error.count("OpIndex")).toList();
            return new Refused(operations, errors.get(0).text("What"));
        }
        List<KeyValue> entries = json.objects("Results").stream()
                .map(result -> KeyValue.of(result.object("KV")))
                .toList();
        // All operations but the final get-tree; those without a result are not counted, so that the rest of the
        // entries is the tree.
        int written = (int) ops.stream()
                .limit(ops.size() - 1)
                .filter(TxnOperation::answered)
                .count();
        if (entries.size() < written) {
            throw new MalformedJsonException("%d results of %d".formatted(entries.size(), written));
        }
        return new Done(entries.subList(0, written), entries.subList(written, entries.size()));
    }

    /** For requests other than transactions: they can be repeated, so that a failure needs no unknown outcome. */
    private static <T> T read(Reply reply, String what, Function<String, T> reader) {
        if (!reply.isOk()) {
            throw reply.failure(what);
        }
        try {
            return reader.apply(reply.body());
        } catch (MalformedJsonException e) {
            throw PermitStoreException.passing("Consul's answer to " + what + " makes no sense", e);
        }
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
