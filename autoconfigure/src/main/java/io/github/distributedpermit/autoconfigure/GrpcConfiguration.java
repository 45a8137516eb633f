package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.web.PermitGrpcErrors;
import io.grpc.protobuf.StatusProto;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;

/** Answers of gRPC servers to calls that got no permit; handlers of the application are asked first. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({GrpcExceptionHandler.class, StatusProto.class})
class GrpcConfiguration {

    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    PermitGrpcErrors distributedPermitGrpcErrors() {
        return new PermitGrpcErrors();
    }
}
