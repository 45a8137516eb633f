package io.github.distributedpermit.sample.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import java.io.IOException;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;

class ReportProblemsTest {

    private final ReportProblems problems = new ReportProblems();

    @Test
    void callThatDoesNotWaitIsToldToComeBack() {
        ResponseEntity<ProblemDetail> answer = problems.rejected(rejection(Reason.LIMIT_REACHED));

        assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
        assertThat(answer.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("1");
        assertThat(answer.getBody()).extracting(ProblemDetail::getDetail).isEqualTo("why");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LIMIT_REACHED")
    void callThatWaitedInVainFindsTheServiceUnavailable(Reason reason) {
        assertThat(problems.rejected(rejection(reason)).getStatusCode()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
    }

    @Test
    void everyProblemHasATypeOfItsOwn() {
        Stream<ResponseEntity<ProblemDetail>> answers = Stream.concat(
                Stream.of(Reason.values()).map(reason -> problems.rejected(rejection(reason))),
                Stream.of(problems.storeFailed(new PermitBackendException("down", new IOException("refused")))));

        assertThat(answers)
                .extracting(answer -> Objects.requireNonNull(answer.getBody()).getType())
                .doesNotHaveDuplicates()
                .hasSize(Reason.values().length + 1);
    }

    private static PermitRejectedException rejection(Reason reason) {
        return new PermitRejectedException("report-export", "report-export", reason, "why");
    }
}
