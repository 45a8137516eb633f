package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.distributedpermit.spi.Caller;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.samples.Clinic;

/** What is recorded of a call must not make it fail. */
class StackCallersTest {

    /** As the package of Spring's own sample applications. */
    @Test
    void methodOfAProxyIsTheCallerAlsoInAPackageThatBeginsLikeAFramework() {
        StackCallers callers = new StackCallers(() -> null);
        AtomicReference<@Nullable Caller> seen = new AtomicReference<>();
        ProxyFactory proxy = new ProxyFactory(new Clinic());
        proxy.addAdvice((MethodInterceptor) invocation -> {
            seen.set(callers.current());
            return invocation.proceed();
        });
        ((Clinic) proxy.getProxy()).visit();
        assertThat(seen.get())
                .isNotNull()
                .extracting(Caller::method)
                .isEqualTo(Optional.of(Clinic.class.getName() + ".visit"));
    }

    @Test
    void missingClassOfTheTraceReachesNoCall() {
        StackCallers callers = new StackCallers(() -> {
            throw new NoClassDefFoundError("planted in the test");
        });
        assertThatCode(callers::current).doesNotThrowAnyException();
    }
}
