package io.github.distributedpermit.test;

import io.github.distributedpermit.DistributedPermit;
import io.github.distributedpermit.Permits;
import io.github.distributedpermit.spi.PermitBackend;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Gives a test permits that are kept in memory: {@link DistributedPermit} limits calls and {@link Permits} is a bean, without a
 * store. On a slice, such as {@code @WebMvcTest}, it adds both; on {@code @SpringBootTest} it takes the place of the
 * configured backend, a bean of type {@link PermitBackend} included. Limits hold within one application context.
 *
 * <p>The bean {@code Permits} records calls for {@link PermitAssert}, from the begin of each test method on.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureDistributedPermit
 * class ReportTest {
 *
 *     @Autowired
 *     Permits permits;
 *
 *     @Test
 *     void exportUsesThePermitOfItsTenant() {
 *         ...
 *         PermitAssert.assertThat(permits).wasCalledWithKey("tenant-42").hasReleasedAll();
 *     }
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureDistributedPermit {

    /** What {@code distributed-permit.backend} is in the test. Another value than {@code local} keeps that store. */
    @PropertyMapping("distributed-permit.backend")
    String backend() default "local";

    /** What {@code distributed-permit.enabled} is in the test: {@code false} lets calls run without limits and records none. */
    @PropertyMapping("distributed-permit.enabled")
    boolean enabled() default true;

    /**
     * Whether time-outs, leases and {@code holdAtLeast} run on a {@link PermitClock}, a bean that the test injects and moves.
     * Otherwise they run on the clock of the system.
     */
    @PropertyMapping("test.distributed-permit.movable-clock")
    boolean movableClock() default false;
}
