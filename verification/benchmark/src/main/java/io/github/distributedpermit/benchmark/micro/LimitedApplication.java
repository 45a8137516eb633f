package io.github.distributedpermit.benchmark.micro;

import io.github.distributedpermit.autoconfigure.DistributedPermitAutoConfiguration;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.bulkhead.ThreadPoolBulkheadRegistry;
import io.github.resilience4j.spring6.bulkhead.configure.BulkheadAspect;
import io.github.resilience4j.spring6.bulkhead.configure.BulkheadConfigurationProperties;
import io.github.resilience4j.spring6.fallback.FallbackDecorators;
import io.github.resilience4j.spring6.fallback.FallbackExecutor;
import io.github.resilience4j.spring6.spelresolver.DefaultSpelResolver;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.StandardReflectionParameterNameDiscoverer;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.resilience.annotation.EnableResilientMethods;

/** A Spring Boot application with the local backend and the annotations of others. */
public final class LimitedApplication implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private LimitedApplication(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts it. */
    public static LimitedApplication start() {
        return new LimitedApplication(new SpringApplicationBuilder(Beans.class)
                .web(WebApplicationType.NONE)
                .properties("distributed-permit.backend=local", "spring.main.banner-mode=off")
                .properties("logging.level.root=error")
                .run());
    }

    /** The service, proxied. */
    public LimitedService service() {
        return context.getBean(LimitedService.class);
    }

    @Override
    public void close() {
        context.close();
    }

    /** Its beans. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({AopAutoConfiguration.class, DistributedPermitAutoConfiguration.class})
    @EnableResilientMethods
    static class Beans {

        @Bean
        LimitedService limitedService() {
            return new LimitedService();
        }

        @Bean
        BulkheadAspect bulkheadAspect(BeanFactory beans) {
            BulkheadConfig config =
                    BulkheadConfig.custom().maxConcurrentCalls(10).build();
            DefaultSpelResolver spel = new DefaultSpelResolver(
                    new SpelExpressionParser(), new StandardReflectionParameterNameDiscoverer(), beans);
            return new BulkheadAspect(
                    new BulkheadConfigurationProperties(),
                    ThreadPoolBulkheadRegistry.ofDefaults(),
                    BulkheadRegistry.of(config),
                    List.of(),
                    new FallbackExecutor(spel, new FallbackDecorators(List.of())),
                    spel);
        }
    }
}
