package io.github.distributedpermit.sample.report;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import java.net.URI;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Says in HTTP why a report was not exported. The types tell a busy limit from a failed store. */
@RestControllerAdvice
class ReportProblems {

    private static final Logger log = LoggerFactory.getLogger(ReportProblems.class);

    private static final String RETRY_SECONDS = "1";

    @ExceptionHandler
    ResponseEntity<ProblemDetail> rejected(PermitRejectedException rejection) {
        // 429 is for callers that do not wait; a call that waited in vain gets 503
        HttpStatus status = rejection.reason() == Reason.LIMIT_REACHED
                ? HttpStatus.TOO_MANY_REQUESTS
                : HttpStatus.SERVICE_UNAVAILABLE;
        return problem(
                status,
                rejection.reason().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                title(rejection.reason()),
                rejection);
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> storeFailed(PermitBackendException failure) {
        log.warn("A report was refused: {}", failure.getMessage());
        return problem(HttpStatus.SERVICE_UNAVAILABLE, "permit-store-failed", "The permit store failed", failure);
    }

    private static ResponseEntity<ProblemDetail> problem(
            HttpStatus status, String type, String title, RuntimeException cause) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, String.valueOf(cause.getMessage()));
        problem.setType(URI.create("urn:report-export:problem:" + type));
        problem.setTitle(title);
        return ResponseEntity.status(status)
                .header(HttpHeaders.RETRY_AFTER, RETRY_SECONDS)
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .body(problem);
    }

    private static String title(Reason reason) {
        return switch (reason) {
            case LIMIT_REACHED -> "All permits are taken";
            case TIMED_OUT -> "No permit became free in time";
            case WOULD_TIME_OUT -> "No permit would become free in time";
            case QUEUE_FULL -> "Too many calls wait already";
            case ABOVE_LIMIT -> "The call needs more permits than there are";
            case TOO_MANY_KEYS -> "Too many different permits are in use";
            case SHUTTING_DOWN -> "The instance is shutting down or was drained";
        };
    }
}
