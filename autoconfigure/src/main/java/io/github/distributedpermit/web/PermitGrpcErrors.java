package io.github.distributedpermit.web;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.distributedpermit.PermitBackendException;
import io.github.distributedpermit.PermitInterruptedException;
import io.github.distributedpermit.PermitRejectedException;
import io.github.distributedpermit.PermitRejectedException.Reason;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;
import org.jspecify.annotations.Nullable;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;

/**
 * Answers calls of Spring gRPC that got no permit: {@code RESOURCE_EXHAUSTED} where other calls are the cause, else {@code UNAVAILABLE};
 * with the details {@code RetryInfo}, and {@code ErrorInfo} whose domain is {@code distributed-permit}. Thread-safe.
 */
public final class PermitGrpcErrors implements GrpcExceptionHandler {

    private static final long RETRY_SECONDS = 1;
    private static final long STORE_RETRY_SECONDS = 5;

    @Override
    public @Nullable StatusException handleException(Throwable thrown) {
        if (thrown instanceof PermitRejectedException rejection) {
            Reason reason = rejection.reason();
            boolean byOthers = reason == Reason.LIMIT_REACHED || reason == Reason.QUEUE_FULL;
            return answer(
                    byOthers ? Code.RESOURCE_EXHAUSTED : Code.UNAVAILABLE,
                    "No permit of '%s'".formatted(rejection.name()),
                    RETRY_SECONDS,
                    ErrorInfo.newBuilder().setReason(reason.name()).putMetadata("permit", rejection.name()));
        }
        if (thrown instanceof PermitBackendException) {
            return answer(
                    Code.UNAVAILABLE,
                    "The store of permits gave none",
                    STORE_RETRY_SECONDS,
                    ErrorInfo.newBuilder().setReason("STORE_FAILED"));
        }
        return thrown instanceof PermitInterruptedException
                ? answer(
                        Code.UNAVAILABLE,
                        "The wait for a permit was interrupted",
                        RETRY_SECONDS,
                        ErrorInfo.newBuilder().setReason("INTERRUPTED"))
                : null;
    }

    private static StatusException answer(Code code, String message, long retrySeconds, ErrorInfo.Builder error) {
        RetryInfo.Builder retry = RetryInfo.newBuilder();
        retry.getRetryDelayBuilder().setSeconds(retrySeconds);
        return StatusProto.toStatusException(com.google.rpc.Status.newBuilder()
                .setCode(code.getNumber())
                .setMessage(message)
                .addDetails(Any.pack(error.setDomain("distributed-permit").build()))
                .addDetails(Any.pack(retry.build()))
                .build());
    }
}
