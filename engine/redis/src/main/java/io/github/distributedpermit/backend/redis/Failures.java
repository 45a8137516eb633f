package io.github.distributedpermit.backend.redis;

import io.github.distributedpermit.spi.PermitStoreException;
import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisLoadingException;
import io.lettuce.core.RedisReadOnlyException;
import java.security.cert.CertificateException;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts errors of Lettuce and Redis to failures of the SPI: passing ones, which may heal by themselves, and permanent
 * ones, which an operator has to mend. Of an error text of the server only the code is repeated, because the text may contain
 * what was sent. Stateless.
 *
 * <p>Whether a failure is permanent decides what waiting calls do: after a passing one they wait, after a permanent one they
 * fail at once.
 */
final class Failures {

    /** Codes of the server and of the scripts ({@code DP...}). */
    private static final Set<String> PERMANENT = Set.of("WRONGPASS", "NOAUTH", "NOPERM", "WRONGTYPE", "DPFOREIGN");

    /** The format of a key, its minimum reader, what the script knows, and the name of the key. */
    private static final Pattern NEWER = Pattern.compile("DPNEWER (\\d+) (\\d+) (\\d+) (.*)", Pattern.DOTALL);

    /** A member has closed the server (close.lua). */
    private static final String CLOSED = "DPMOVED";

    /**
     * The server is a replica, or lost its master or its replicas: it may not be the master any more. After one of
     * them the master is looked up again.
     */
    private static final Set<String> REFUSES_CLAIMS = Set.of("READONLY", "MASTERDOWN", "NOREPLICAS", CLOSED);

    /** Redis before 7 wraps the error of a command inside a script. */
    private static final Pattern IN_SCRIPT = Pattern.compile("^ERR Error running script.*?: -?([A-Z]{2,})\\b");

    /** A missing right inside a script has no error code: up to Redis 7.0, and from 7.2 on and in Valkey. */
    private static final Pattern NO_RIGHT_IN_SCRIPT =
            Pattern.compile("The user executing the script|^(ERR )?ACL failure in script");

    /** A command that was renamed, or that a proxy does not pass on; the server's text names it, that of a script and of some proxies not. */
    private static final Pattern NO_COMMAND = Pattern.compile(
            "un(?:known|supported) (?:redis )?(?:sub)?command(?: [`']([a-z|]{2,30})[`'])?", Pattern.CASE_INSENSITIVE);

    /** The text of the scripts, from which the name of the key is taken. */
    private static final Pattern FOREIGN_KEY =
            Pattern.compile("DPFOREIGN (.*) holds something that is not ours", Pattern.DOTALL);
    /** How many causes are looked at; a chain may contain itself. */
    private static final int MAX_CAUSES = 16;

    private Failures() {}

    /**
     * The failure of a command.
     *
     * @param key that the command was about, if it was about one
     */
    static PermitStoreException of(Throwable failure, @Nullable RedisKey key) {
        Throwable cause = failure;
        // The first cause that says something decides; wrappers of futures and of Lettuce are around it.
        for (int i = 0; i < MAX_CAUSES; i++) {
            if (cause instanceof PermitStoreException known) {
                return known;
            }
            if (cause instanceof RedisCommandExecutionException answer) {
                return answered(answer, key);
            }
            if (cause instanceof CertificateException) {
                return PermitStoreException.permanent(
                        "The certificate of Redis is not trusted: " + reason(cause)
                                + "; check the names in it, and the authorities the connection trusts",
                        null);
            }
            if (cause instanceof RedisCommandTimeoutException) {
                return PermitStoreException.passing("Redis did not answer in time", cause);
            }
            Throwable deeper = cause.getCause();
            // The cause of a cancellation says nothing about the server, while a wrapper has no meaning of its own.
            boolean wrapper = cause instanceof CompletionException || cause instanceof ExecutionException;
            if (deeper == null || (!wrapper && cause instanceof CancellationException)) {
                break;
            }
            cause = deeper;
        }
        for (Throwable ofNode : cause.getSuppressed()) { // no node of a Cluster has said which others there are
            PermitStoreException known = of(ofNode, key);
            if (known.isPermanent()) {
                return known;
            }
        }
        return PermitStoreException.passing(
                "Redis can't be reached: " + cause.getClass().getSimpleName(), cause);
    }

    /**
     * The failure of an attempt to connect. An attempt {@linkplain #hasNoReason without a reason} does not show that
     * the password is right now, so a permanent reason of the attempt before remains. The log and the waiting calls
     * would otherwise change between the two failures with each attempt.
     *
     * @param before the failure of the attempt before, if that failed
     */
    static PermitStoreException ofAttempt(Throwable failure, @Nullable PermitStoreException before) {
        boolean remains = before != null && before.isPermanent() && hasNoReason(failure);
        return before != null && remains ? before : of(failure, null);
    }

    /**
     * Whether an attempt to connect failed without a reason. In about three of a hundred attempts Lettuce loses the
     * server's answer to the handshake, because the connection ends while Lettuce sets it up. It then reports an
     * {@code IllegalStateException}: its handshake handler is not registered. The next attempt succeeds as a rule, so
     * that such an attempt is not taken for a statement about the server.
     */
    static boolean hasNoReason(Throwable failure) {
        return deepest(failure) instanceof IllegalStateException;
    }

    private static Throwable deepest(Throwable failure) {
        Throwable deepest = failure;
        for (int i = 0; i < MAX_CAUSES && deepest.getCause() != null; i++) {
            deepest = deepest.getCause();
        }
        return deepest;
    }

    /**
     * This text is not secret, because certificates are public. The deepest cause says what is wrong with the
     * certificate.
     */
    private static String reason(Throwable certificateProblem) {
        return String.valueOf(deepest(certificateProblem).getMessage());
    }

    /** The server has answered, so that its text decides. */
    private static PermitStoreException answered(RedisCommandExecutionException answer, @Nullable RedisKey key) {
        String text = answer.getMessage() == null ? "" : answer.getMessage();
        String code = code(answer, text);
        if (code.equals("NOPERM")) {
            return PermitStoreException.permanent(
                    "Redis refuses a right that permits need (NOPERM): the user of the connection lacks a command, key or "
                            + "channel" + of(key),
                    null);
        }
        if (code.equals("WRONGPASS") || code.equals("NOAUTH")) {
            return PermitStoreException.permanent("Redis refuses the user or password (" + code + ")", null);
        }
        Matcher missing = NO_COMMAND.matcher(text);
        if ((code.equals("an error") || code.equals("ERR")) && missing.find()) {
            String name = missing.group(1) == null ? "a command" : "the command " + missing.group(1);
            return PermitStoreException.permanent(
                    "Redis, or a proxy before it, does not have " + name
                            + " that permits need; docs/security.md lists all of them",
                    null);
        }
        Matcher newer = NEWER.matcher(text);
        if (code.equals("DPNEWER") && newer.find()) {
            return PermitStoreException.newerFormat(
                    "The permit at " + newer.group(4),
                    Integer.parseInt(newer.group(1)),
                    Integer.parseInt(newer.group(2)),
                    Integer.parseInt(newer.group(3)));
        }
        // The packed arguments do not have the form that the script expects.
        if (code.equals("DPCLAIM")) {
            return PermitStoreException.permanent(
                    "The scripts on the class path are not of the version of the classes (DPCLAIM); is the library there twice?",
                    null);
        }
        // WRONGTYPE and DPFOREIGN are left here: the key is in use by another application.
        if (PERMANENT.contains(code)) {
            Matcher named = FOREIGN_KEY.matcher(text);
            String where = named.find() ? " at " + named.group(1) : "";
            return PermitStoreException.permanent(
                    "Redis holds something that is not a permit" + where + of(key) + " (" + code
                            + "); nothing was overwritten",
                    null);
        }
        if (code.equals("TRYAGAIN")) {
            return PermitStoreException.ofKey("Redis answered TRYAGAIN" + of(key)
                    + ": its hash slot is being moved to another node of the Cluster");
        }
        return PermitStoreException.passing("Redis answered " + code + of(key), null);
    }

    /**
     * Whether the server takes no claims at the moment, and another server may take them. The connection itself
     * works, so that it is not found by the checks for a silent one.
     */
    static boolean refusesClaims(Throwable failure) {
        return failure instanceof RedisCommandExecutionException answer
                && REFUSES_CLAIMS.contains(code(answer, String.valueOf(answer.getMessage())));
    }

    /** Whether a member has closed the server, because another one had become the master. */
    static boolean isOfClosedServer(Throwable failure) {
        return failure instanceof RedisCommandExecutionException answer
                && code(answer, String.valueOf(answer.getMessage())).equals(CLOSED);
    }

    /** Lettuce has classes for some codes, and their texts may lack the code. */
    private static String code(RedisCommandExecutionException answer, String text) {
        if (answer instanceof RedisReadOnlyException) {
            return "READONLY";
        }
        if (answer instanceof RedisBusyException) {
            return "BUSY";
        }
        if (answer instanceof RedisLoadingException) {
            return "LOADING";
        }
        if (NO_RIGHT_IN_SCRIPT.matcher(text).find()) {
            return "NOPERM";
        }
        Matcher wrapped = IN_SCRIPT.matcher(text);
        if (wrapped.find()) {
            return wrapped.group(1);
        }
        int end = text.indexOf(' ');
        String first = end < 0 ? text : text.substring(0, end);
        return first.matches("-?[A-Z]{2,}") ? first.replace("-", "") : "an error";
    }

    /** The name of the key's state is shown, since it has no control characters. */
    private static String of(@Nullable RedisKey key) {
        return key == null ? "" : " for the permit at " + key;
    }
}
