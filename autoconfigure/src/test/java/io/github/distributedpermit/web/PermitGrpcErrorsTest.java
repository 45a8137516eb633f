package io.github.distributedpermit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.grpc.server.exception.GrpcExceptionHandlerInterceptor;

/** What the client of a gRPC service receives when it gets no permit. */
class PermitGrpcErrorsTest {

    private static final String PATH = "permit-grpc-errors";

    @Test
    void clientLearnsWhyAndWhenToTryAgain() throws Exception {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
                        AopAutoConfiguration.class, DistributedPermitAutoConfiguration.class, Health.class)
                .web(WebApplicationType.NONE)
                .properties("distributed-permit.backend=local")
                .run()) {
            Server server = InProcessServerBuilder.forName(PATH)
                    .addService(context.getBean(Health.class))
                    .intercept(new GrpcExceptionHandlerInterceptor(context.getBean(GrpcExceptionHandler.class)))
                    .build()
                    .start();
            ManagedChannel channel = InProcessChannelBuilder.forName(PATH).build();
            try {
                HealthGrpc.HealthBlockingStub stub = HealthGrpc.newBlockingStub(channel);
                HealthCheckRequest request = HealthCheckRequest.getDefaultInstance();
                assertThat(stub.check(request).getStatus()).isEqualTo(ServingStatus.SERVING);
                try (Permit held = context.getBean(Permits.class).acquire("grpc-check")) {
                    StatusRuntimeException answer = Objects.requireNonNull(
                            catchThrowableOfType(StatusRuntimeException.class, () -> stub.check(request)));
                    assertThat(answer.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                    assertThat(answer).hasMessageContaining("No permit of 'grpc-check'");
                    List<Any> details = Objects.requireNonNull(StatusProto.fromThrowable(answer))
                            .getDetailsList();
                    ErrorInfo why = details.get(0).unpack(ErrorInfo.class);
                    assertThat(why.getReason()).isEqualTo("LIMIT_REACHED");
                    assertThat(why.getMetadataMap()).containsEntry("permit", "grpc-check");
                    assertThat(details.get(1)
                                    .unpack(RetryInfo.class)
                                    .getRetryDelay()
                                    .getSeconds())
                            .isOne();
                }
                assertThat(stub.check(request).getStatus()).isEqualTo(ServingStatus.SERVING);
            } finally {
                channel.shutdownNow();
                server.shutdownNow();
            }
        }
    }

    @Test
    void otherReasonsAreUnavailable() {
        PermitGrpcErrors errors = new PermitGrpcErrors();
        StatusException failed = Objects.requireNonNull(
                errors.handleException(new PermitBackendException("down", new IllegalStateException())));
        assertThat(failed.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(errors.handleException(new IllegalStateException())).isNull();
    }

    static class Health extends HealthGrpc.HealthImplBase {

        @Override
        @DistributedPermit(key = "grpc-check", limit = 1, block = false)
        public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> answer) {
            answer.onNext(HealthCheckResponse.newBuilder()
                    .setStatus(ServingStatus.SERVING)
                    .build());
            answer.onCompleted();
        }
    }
}
