package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;

/**
 * A limited method of a bean, looked at once.
 *
 * @param method as the bean's class has it
 * @param operations its permits, in the order to take them
 * @param interruptible whether it declares that it may be interrupted
 */
record LimitedMethod(Method method, List<PermitOperation> operations, boolean interruptible) {

    LimitedMethod(Method method, List<PermitOperation> operations) {
        this(method, operations, declaresInterruption(method));
    }

    private static boolean declaresInterruption(Method method) {
        for (Class<?> type : method.getExceptionTypes()) {
            if (type.isAssignableFrom(InterruptedException.class)) {
                return true;
            }
        }
        return false;
    }
}
