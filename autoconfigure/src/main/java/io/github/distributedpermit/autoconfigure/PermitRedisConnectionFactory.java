package io.github.distributedpermit.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code LettuceConnectionFactory} bean whose server stores the permits, in an application that has several. It
 * wins over a bean that is {@code @Primary}.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @PermitRedisConnectionFactory
 * LettuceConnectionFactory permitConnections() { ... }
 * }</pre>
 *
 * <p>With {@code defaultCandidate = false} the bean is used for permits only: the connection factory that Spring Boot
 * configures stays, and all other users of Redis get that one.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface PermitRedisConnectionFactory {}
