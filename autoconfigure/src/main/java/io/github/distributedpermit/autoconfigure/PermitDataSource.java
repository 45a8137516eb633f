package io.github.distributedpermit.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean whose database stores the permits, in an application that has several. It wins over a
 * bean that is {@code @Primary}.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @PermitDataSource
 * HikariDataSource permitDatabase() { ... }
 * }</pre>
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface PermitDataSource {}
