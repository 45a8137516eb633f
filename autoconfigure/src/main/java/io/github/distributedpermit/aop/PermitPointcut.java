package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Matches limited methods. */
final class PermitPointcut extends StaticMethodMatcherPointcut {

    PermitPointcut(PermitOperations operations) {
        setClassFilter(operations::limits);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return !PermitAnnotations.of(method, targetClass).isEmpty();
    }
}
