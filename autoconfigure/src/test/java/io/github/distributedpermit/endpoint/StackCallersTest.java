package io.github.distributedpermit.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.github.distributedpermit.spi.Caller;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.samples.Clinic;

/** What is recorded of a call must not make it fail. */
class StackCallersTest {

    private final AtomicLong now = new AtomicLong(-5);

    /** As the package of Spring's own sample applications. */
    @Test
    void methodOfAProxyIsTheCallerAlsoInAPackageThatBeginsLikeAFramework() {
        StackCallers callers = new StackCallers(() -> null, now::get);
        AtomicReference<@Nullable Caller> seen = new AtomicReference<>();
        ProxyFactory proxy = new ProxyFactory(new Clinic());
        proxy.addAdvice((MethodInterceptor) invocation -> {
            seen.set(callers.current(null));
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
        StackCallers callers = new StackCallers(
                () -> {
                    throw new NoClassDefFoundError("planted in the test");
                },
                now::get);
        assertThatCode(() -> callers.current(null)).doesNotThrowAnyException();
    }

    /** A busy application must not spend its time on what few operators look at. */
    @Test
    void atMostAThousandCallsInASecondAreLookedUpAndThoseThatSayTheirMethodNotAtAll() {
        StackCallers callers = new StackCallers(() -> null, now::get);
        for (int second = 0; second < 3; second++) {
            assertThat(lookedUp(callers, 5_000)).isEqualTo(StackCallers.MOST_LOOKUPS);
            assertThat(callers.current("com.example.Reports.export"))
                    .isNotNull()
                    .extracting(Caller::method)
                    .isEqualTo(Optional.of("com.example.Reports.export"));
            now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        }
        for (int i = 0; i < 5_000; i++) {
            callers.current("com.example.Reports.export");
        }
        assertThat(lookedUp(callers, 5_000)).isEqualTo(StackCallers.MOST_LOOKUPS);
    }

    private static long lookedUp(StackCallers callers, int calls) {
        return IntStream.range(0, calls)
                .mapToObj(i -> callers.current(null))
                .filter(caller -> caller != null && caller.method().isPresent())
                .count();
    }
}
