package io.github.distributedpermit.web;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ClassUtils;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.method.annotation.ExceptionHandlerMappingInfo;

/**
 * Answers requests that ended without a permit, in Spring MVC and in WebFlux. Has the lowest precedence, so an
 * {@code @ExceptionHandler} of the application wins; in Spring MVC one for every exception does not, see
 * {@link ClosestHandlerResolver}. The answer to a rejection names the permit and the reason. It has the key,
 * which may contain data of a user, only if that is the name too, as in {@code permits.run("tenant-" + tenant, work)}.
 * Thread-safe.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
public final class PermitProblems {

    private static final Log log = LogFactory.getLog(PermitProblems.class);

    private static final String TYPE = "urn:distributed-permit:problem:";

    /** As long as the library itself waits before it asks a store again that does not answer, and a little more. */
    private static final Duration STORE_RETRY = Duration.ofSeconds(5);

    private static final long LONGEST_RETRY_SECONDS = 60;

    private static final boolean SERVLET =
            ClassUtils.isPresent("jakarta.servlet.http.HttpServletResponse", PermitProblems.class.getClassLoader());

    private final HoldTimes holdTimes;

    /** Suggests to retry after these times. */
    public PermitProblems(HoldTimes holdTimes) {
        this.holdTimes = holdTimes;
    }

    /**
     * Answers a call that got no permit.
     *
     * @param thrown what the handler threw, whose cause the rejection may be
     * @return {@code null} if a browser got the application's error page, in Spring MVC
     * @throws Throwable the same, if Spring has an answer to it or to one of its causes
     */
    @ExceptionHandler(PermitRejectedException.class)
    public @Nullable ResponseEntity<ProblemDetail> rejected(PermitRejectedException rejection, Throwable thrown)
            throws Throwable {
        return answer(rejection, thrown);
    }

    /** Answers a call whose store failed. The parameters are those of {@link #rejected}. */
    @ExceptionHandler(PermitBackendException.class)
    public @Nullable ResponseEntity<ProblemDetail> failed(PermitBackendException failure, Throwable thrown)
            throws Throwable {
        return answer(failure, thrown);
    }

    /**
     * Answers a call whose thread was interrupted while it waited, as Spring MVC does with a {@code Callable} whose request
     * times out: the interrupted wait may end before the time-out is answered. The parameters are those of {@link #rejected}.
     */
    @ExceptionHandler(PermitInterruptedException.class)
    public @Nullable ResponseEntity<ProblemDetail> interrupted(
            PermitInterruptedException interruption, Throwable thrown) throws Throwable {
        return answer(interruption, thrown);
    }

    /** An exception of the application that says which answer it wants gets that, whatever its cause is. */
    private static void leaveToSpring(Throwable thrown, Throwable ours) throws Throwable {
        Throwable each = thrown;
        while (each != null && each != ours) {
            if (each instanceof ErrorResponse
                    || AnnotatedElementUtils.hasAnnotation(each.getClass(), ResponseStatus.class)) {
                throw thrown;
            }
            each = each.getCause();
        }
    }

    private @Nullable ResponseEntity<ProblemDetail> answer(RuntimeException ours, Throwable thrown) throws Throwable {
        leaveToSpring(thrown, ours);
        ResponseEntity<ProblemDetail> answer = answer(ours);
        String after = Objects.requireNonNull(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER));
        return SERVLET && CurrentResponse.answersWithPage(answer.getStatusCode().value(), after) ? null : answer;
    }

    ResponseEntity<ProblemDetail> answer(RuntimeException ours) {
        ProblemDetail problem = problem(ours);
        if (log.isDebugEnabled()) {
            log.debug("Answered HTTP " + problem.getStatus() + ": " + ours.getMessage());
        }
        return ResponseEntity.status(problem.getStatus())
                .header(HttpHeaders.RETRY_AFTER, Long.toString(retryAfterSeconds(ours)))
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(problem);
    }

    /** Whether it says that a call got no permit. */
    static boolean areFor(Throwable thrown) {
        return thrown instanceof PermitRejectedException
                || thrown instanceof PermitBackendException
                || thrown instanceof PermitInterruptedException;
    }

    /** What an exception of this library means to a client. */
    static ProblemDetail problem(RuntimeException ours) {
        if (ours instanceof PermitRejectedException rejection) {
            String reason = rejection.reason().name().toLowerCase(Locale.ROOT).replace('_', '-');
            ProblemDetail problem = problem(status(rejection.reason()), reason, title(rejection.reason()));
            problem.setDetail("No permit of '" + rejection.name() + "': " + reason.replace('-', ' '));
            problem.setProperty("permit", rejection.name());
            return problem;
        }
        return ours instanceof PermitInterruptedException
                ? problem(HttpStatus.SERVICE_UNAVAILABLE, "interrupted", "The wait for a permit was interrupted")
                : problem(HttpStatus.SERVICE_UNAVAILABLE, "store-failed", "The store of permits gave none");
    }

    /** When a client may try again. */
    long retryAfterSeconds(RuntimeException ours) {
        Duration known = ours instanceof PermitRejectedException rejection
                ? holdTimes.of(rejection.name())
                : ours instanceof PermitBackendException ? STORE_RETRY : null;
        long seconds = known == null ? 1 : known.plusMillis(999).toSeconds();
        return Math.min(LONGEST_RETRY_SECONDS, Math.max(1, seconds));
    }

    /**
     * Whether a handler is meant for this exception: it names the exception itself or its direct super type, and not only
     * {@code RuntimeException} or one of its super types, which nearly every exception is.
     */
    static boolean isClose(ExceptionHandlerMappingInfo handler, Class<? extends Throwable> exception) {
        Class<?> above = exception.getSuperclass();
        return handler.getExceptionTypes().contains(exception)
                || (above != RuntimeException.class
                        && handler.getExceptionTypes().contains(above));
    }

    private static ProblemDetail problem(HttpStatus status, String type, String title) {
        ProblemDetail problem = ProblemDetail.forStatus(status);
        problem.setType(URI.create(TYPE + type));
        problem.setTitle(title);
        problem.setProperty("reason", type);
        return problem;
    }

    /** "Too many requests" where another request is the cause; "unavailable" where waiting did not help. */
    private static HttpStatus status(Reason reason) {
        return switch (reason) {
            case LIMIT_REACHED, QUEUE_FULL -> HttpStatus.TOO_MANY_REQUESTS;
            case TIMED_OUT, WOULD_TIME_OUT, ABOVE_LIMIT, TOO_MANY_KEYS, SHUTTING_DOWN -> HttpStatus.SERVICE_UNAVAILABLE;
        };
    }

    private static String title(Reason reason) {
        return switch (reason) {
            case LIMIT_REACHED -> "All permits are in use";
            case TIMED_OUT -> "No permit became free in time";
            case WOULD_TIME_OUT -> "No permit would become free in time";
            case QUEUE_FULL -> "Too many calls wait already";
            case ABOVE_LIMIT -> "The call needs more permits than there are";
            case TOO_MANY_KEYS -> "Too many different limits are in use";
            case SHUTTING_DOWN -> "The instance is shutting down or was drained";
        };
    }
}
