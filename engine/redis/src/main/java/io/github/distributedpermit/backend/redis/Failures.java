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
 * Says what went wrong in terms of the SPI: what may heal by itself, and what only people can mend. A server's own text is
 * never repeated beyond its error code, for it may quote what it was sent.
 */
final class Failures {

    private static final Set<String> PERMANENT = Set.of("WRONGPASS", "NOAUTH", "NOPERM", "WRONGTYPE", "DPFOREIGN");

    /** The format of a key, its minimum reader, what the script knows, and the name of the key. */
    private static final Pattern NEWER = Pattern.compile("DPNEWER (\\d+) (\\d+) (\\d+) (.*)", Pattern.DOTALL);
    /** It is a replica, it has lost its master, or its replicas: it may not be the master any more. */
    private static final Set<String> ELSEWHERE = Set.of("READONLY", "MASTERDOWN", "NOREPLICAS");

    /** Redis before 7 wraps what a command inside a script answered. */
    private static final Pattern IN_SCRIPT = Pattern.compile("^ERR Error running script.*?: -?([A-Z]{2,})\\b");

    /** A right that is missing inside a script has no code of its own: up to Redis 7.0, and from 7.2 on and in Valkey. */
    private static final Pattern NO_RIGHT_IN_SCRIPT =
            Pattern.compile("The user executing the script|^(ERR )?ACL failure in script");

    private static final Pattern FOREIGN_KEY =
            Pattern.compile("DPFOREIGN (.*) holds something that is not ours", Pattern.DOTALL);
    private static final int MAX_CAUSES = 16;

    private Failures() {}

    static PermitStoreException of(Throwable failure, @Nullable RedisKey key) {
        Throwable cause = failure;
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
            boolean wrapper = cause instanceof CompletionException || cause instanceof ExecutionException;
            if (deeper == null || (!wrapper && cause instanceof CancellationException)) {
                break;
            }
            cause = deeper;
        }
        return PermitStoreException.passing(
                "Redis can't be reached: " + cause.getClass().getSimpleName(), cause);
    }

    /**
     * Why a connection cannot be made. Lettuce loses the server's answer to the handshake in about three of a hundred
     * attempts and reports an {@code IllegalStateException} of its own (its handshake handler is not registered). That is no
     * reason, and in particular it does not mean that the password is right now: a permanent reason stands.
     *
     * @param before why the attempt before failed
     */
    static PermitStoreException ofAttempt(Throwable failure, @Nullable PermitStoreException before) {
        boolean stands = before != null && before.isPermanent() && deepest(failure) instanceof IllegalStateException;
        return before != null && stands ? before : of(failure, null);
    }

    private static Throwable deepest(Throwable failure) {
        Throwable deepest = failure;
        for (int i = 0; i < MAX_CAUSES && deepest.getCause() != null; i++) {
            deepest = deepest.getCause();
        }
        return deepest;
    }

    /** Certificates are public, and so is what is wrong with them. */
    private static String reason(Throwable certificateProblem) {
        return String.valueOf(deepest(certificateProblem).getMessage());
    }

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
        Matcher newer = NEWER.matcher(text);
        if (code.equals("DPNEWER") && newer.find()) {
            return PermitStoreException.newerFormat(
                    "The permit at " + newer.group(4),
                    Integer.parseInt(newer.group(1)),
                    Integer.parseInt(newer.group(2)),
                    Integer.parseInt(newer.group(3)));
        }
        if (code.equals("DPCLAIM")) {
            return PermitStoreException.permanent(
                    "The scripts on the class path are not of the version of the classes (DPCLAIM); is the library there twice?",
                    null);
        }
        if (PERMANENT.contains(code)) {
            Matcher named = FOREIGN_KEY.matcher(text);
            String where = named.find() ? " at " + named.group(1) : "";
            return PermitStoreException.permanent(
                    "Redis holds something that is not a permit" + where + of(key) + " (" + code
                            + "); nothing was overwritten",
                    null);
        }
        return PermitStoreException.passing("Redis answered " + code + of(key), null);
    }

    /** Whether the server takes no claims now, and another one may. */
    static boolean refusesClaims(Throwable failure) {
        return failure instanceof RedisCommandExecutionException answer
                && ELSEWHERE.contains(code(answer, String.valueOf(answer.getMessage())));
    }

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

    private static String of(@Nullable RedisKey key) {
        return key == null ? "" : " for the permit at " + key;
    }
}
