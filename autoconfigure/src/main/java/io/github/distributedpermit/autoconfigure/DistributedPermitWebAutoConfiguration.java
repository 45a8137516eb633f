package io.github.distributedpermit.autoconfigure;

import io.github.distributedpermit.web.CatchAllWarning;
import io.github.distributedpermit.web.ClosestHandlerResolver;
import io.github.distributedpermit.web.FilterProblems;
import io.github.distributedpermit.web.HoldTimes;
import io.github.distributedpermit.web.PermitGraphQlErrors;
import io.github.distributedpermit.web.PermitProblems;
import io.github.distributedpermit.web.WebFluxProblems;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.codec.ServerCodecConfigurer;

/** Auto-configuration of {@link PermitProblems}, the answers of web applications to calls that got no permit. */
@AutoConfiguration(before = DistributedPermitAutoConfiguration.class)
@ConditionalOnWebApplication
@ConditionalOnClass(name = "org.springframework.web.bind.annotation.ControllerAdvice")
@ConditionalOnBooleanProperty(name = "distributed-permit.enabled", matchIfMissing = true)
public final class DistributedPermitWebAutoConfiguration {

    @Bean
    HoldTimes distributedPermitHoldTimes() {
        return new HoldTimes();
    }

    @Bean
    @ConditionalOnMissingBean
    PermitProblems distributedPermitProblems(HoldTimes holdTimes) {
        return new PermitProblems(holdTimes);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.servlet.HandlerExceptionResolver")
    static final class Servlet {

        @Bean
        ClosestHandlerResolver distributedPermitExceptionResolver() {
            return new ClosestHandlerResolver();
        }

        @Bean
        FilterProblems distributedPermitFilterProblems(ClosestHandlerResolver answers) {
            return new FilterProblems(answers);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static final class Reactive {

        @Bean
        CatchAllWarning distributedPermitCatchAllWarning(ApplicationContext context) {
            return new CatchAllWarning(context);
        }

        @Bean
        WebFluxProblems distributedPermitWebFluxProblems(
                PermitProblems problems, ObjectProvider<ServerCodecConfigurer> codecs) {
            return new WebFluxProblems(problems, codecs.getIfAvailable(ServerCodecConfigurer::create));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.graphql.execution.DataFetcherExceptionResolverAdapter")
    static final class GraphQl {

        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        PermitGraphQlErrors distributedPermitGraphQlErrors(PermitProblems problems) {
            return new PermitGraphQlErrors(problems);
        }
    }
}
