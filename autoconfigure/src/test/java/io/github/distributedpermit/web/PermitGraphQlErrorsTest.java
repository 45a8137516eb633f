package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;

import graphql.ExecutionResult;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.distributedpermit.autoconfigure.DistributedPermitWebAutoConfiguration;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.graphql.data.method.annotation.support.AnnotatedControllerConfigurer;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.graphql.execution.GraphQlSource;
import org.springframework.stereotype.Controller;
import reactor.core.publisher.Mono;

/** Fields of GraphQL whose methods get no permit. */
class PermitGraphQlErrorsTest {

    private static final String SCHEMA = "type Query { report: String, later: String, broken: String, other: String }";

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DistributedPermitAutoConfiguration.class, DistributedPermitWebAutoConfiguration.class))
            .withBean(Reports.class)
            .withPropertyValues("distributed-permit.backend=local");

    @Test
    void rejectionSaysReasonPermitAndWhenToTryAgain() {
        run(runner, context -> {
            try (Permit taken =
                    context.getBean(Permits.class).tryAcquire("report").orElseThrow()) {
                assertThat(taken.isHeld()).isTrue();
                GraphQLError error = error(context, "{ report }");
                assertThat(error.getErrorType()).hasToString("LIMIT_REACHED");
                assertThat(error.getMessage()).isEqualTo("No permit of 'report': limit reached");
                assertThat(error.getPath()).isEqualTo(List.of("report"));
                assertThat(error.getExtensions())
                        .contains(
                                Map.entry("reason", "limit-reached"),
                                Map.entry("permit", "report"),
                                Map.entry("status", 429),
                                Map.entry("retryAfterSeconds", 1L));
            }
            ExecutionResult free = execute(context, "{ report }");
            assertThat(free.getErrors()).isEmpty();
            assertThat(free.<Map<String, Object>>getData()).containsEntry("report", "done");
        });
    }

    @Test
    void methodThatReturnsAFutureIsAnsweredLikewise() {
        run(runner, context -> {
            try (Permit taken =
                    context.getBean(Permits.class).tryAcquire("later").orElseThrow()) {
                assertThat(taken.isHeld()).isTrue();
                assertThat(error(context, "{ later }").getErrorType()).hasToString("LIMIT_REACHED");
            }
        });
    }

    @Test
    void failedStoreIsNoRejection() {
        run(runner, context -> {
            GraphQLError error = error(context, "{ broken }");
            assertThat(error.getErrorType()).hasToString("STORE_FAILED");
            assertThat(error.getExtensions())
                    .contains(Map.entry("status", 503), Map.entry("retryAfterSeconds", 5L))
                    .doesNotContainKey("permit");
            assertThat(error.getMessage()).doesNotContain("10.0.0.7");
        });
    }

    @Test
    void otherExceptionsAreLeftAlone() {
        run(
                runner,
                context ->
                        assertThat(error(context, "{ other }").getErrorType()).hasToString("INTERNAL_ERROR"));
    }

    @Test
    void resolverOfTheApplicationIsAskedFirst() {
        run(runner.withUserConfiguration(OfTheApplication.class), context -> {
            assertThat(error(context, "{ broken }").getMessage()).isEqualTo("mine");
        });
    }

    private static void run(WebApplicationContextRunner runner, ContextConsumer<ApplicationContext> check) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            check.accept(context);
        });
    }

    private static GraphQLError error(ApplicationContext context, String query) {
        List<GraphQLError> errors = execute(context, query).getErrors();
        assertThat(errors).hasSize(1);
        return errors.get(0);
    }

    private static ExecutionResult execute(ApplicationContext context, String query) {
        AnnotatedControllerConfigurer controllers = new AnnotatedControllerConfigurer();
        controllers.setApplicationContext(context);
        controllers.afterPropertiesSet();
        return GraphQlSource.schemaResourceBuilder()
                .schemaResources(new ByteArrayResource(SCHEMA.getBytes(StandardCharsets.UTF_8)))
                .configureRuntimeWiring(controllers)
                .exceptionResolvers(context.getBeanProvider(DataFetcherExceptionResolver.class)
                        .orderedStream()
                        .toList())
                .build()
                .graphQl()
                .execute(query);
    }

    @Controller
    static class Reports {

        @QueryMapping
        @DistributedPermit(key = "report", limit = 1, block = false)
        public String report() {
            return "done";
        }

        @QueryMapping
        @DistributedPermit(key = "later", limit = 1, block = false)
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("done");
        }

        @QueryMapping
        public String broken() {
            throw new PermitBackendException("10.0.0.7 does not answer", new IllegalStateException());
        }

        @QueryMapping
        public String other() {
            throw new IllegalStateException("other");
        }
    }

    static class OfTheApplication {

        @Bean
        DataFetcherExceptionResolver mine() {
            return (thrown, environment) -> Mono.just(List.of(
                    GraphqlErrorBuilder.newError(environment).message("mine").build()));
        }
    }
}
