package io.github.distributedpermit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.distributedpermit.PermitRejectedException.Reason;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TryAcquireTest {

    private static final Set<Reason> FOR_WANT_OF_TIME =
            EnumSet.of(Reason.LIMIT_REACHED, Reason.TIMED_OUT, Reason.WOULD_TIME_OUT);

    @ParameterizedTest
    @EnumSource
    void isEmptyWhereTheCallHadToWaitLonger(Reason reason) throws InterruptedException {
        NamedPermits permits = (NamedPermits) Proxy.newProxyInstance(
                NamedPermits.class.getClassLoader(),
                new Class<?>[] {NamedPermits.class},
                (proxy, method, arguments) -> {
                    if (method.isDefault()) {
                        return InvocationHandler.invokeDefault(proxy, method, arguments);
                    }
                    throw new PermitRejectedException("name", "key", reason, "of a test");
                });
        PermitRequest request = PermitRequest.of("key");
        if (FOR_WANT_OF_TIME.contains(reason)) {
            assertThat(permits.tryAcquire(request)).isEmpty();
        } else {
            assertThatExceptionOfType(PermitRejectedException.class).isThrownBy(() -> permits.tryAcquire(request));
        }
    }
}
