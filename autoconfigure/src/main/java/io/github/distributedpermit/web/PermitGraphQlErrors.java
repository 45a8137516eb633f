package io.github.distributedpermit.web;

import graphql.ErrorClassification;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.schema.DataFetchingEnvironment;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.graphql.execution.DataFetcherExceptionResolverAdapter;
import org.springframework.http.ProblemDetail;

/**
 * Answers fields of GraphQL that ended without a permit, with the contents of {@link PermitProblems}: the reason is the
 * classification, and {@code reason}, {@code permit}, {@code status} and {@code retryAfterSeconds} are extensions. A resolver or
 * {@code @GraphQlExceptionHandler} of the application that answers is asked first. Thread-safe.
 */
public final class PermitGraphQlErrors extends DataFetcherExceptionResolverAdapter {

    private final PermitProblems problems;

    /** Answers what these problems are for. */
    public PermitGraphQlErrors(PermitProblems problems) {
        this.problems = problems;
    }

    @Override
    protected @Nullable GraphQLError resolveToSingleError(Throwable thrown, DataFetchingEnvironment environment) {
        return PermitProblems.areFor(thrown) ? error((RuntimeException) thrown, environment) : null;
    }

    private GraphQLError error(RuntimeException ours, DataFetchingEnvironment environment) {
        ProblemDetail problem = PermitProblems.problem(ours);
        Map<String, Object> extensions = new LinkedHashMap<>(Objects.requireNonNull(problem.getProperties()));
        extensions.put("status", problem.getStatus());
        extensions.put("retryAfterSeconds", problems.retryAfterSeconds(ours));
        String reason = String.valueOf(extensions.get("reason"));
        return GraphqlErrorBuilder.newError(environment)
                .message("%s", Objects.requireNonNullElse(problem.getDetail(), problem.getTitle()))
                .errorType(ErrorClassification.errorClassification(
                        reason.toUpperCase(Locale.ROOT).replace('-', '_')))
                .extensions(extensions)
                .build();
    }
}
