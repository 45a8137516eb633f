package io.github.distributedpermit.aop;

import java.lang.reflect.Method;
import java.util.List;

/**
 * A limited method of a bean, looked at once.
 *
 * @param method as the bean's class has it
 * @param operations its permits, in the order to take them
 * @param interruptible whether it declares that it may be interrupted
 * @param leftOpen whether it may return what ends later than itself, without declaring it
 */
record LimitedMethod(Method method, List<PermitOperation> operations, boolean interruptible, boolean leftOpen) {

    LimitedMethod(Method method, Class<?> type, List<PermitOperation> operations) {
        this(method, operations, declaresInterruption(method), LateEnd.isLeftOpen(method, type));
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
