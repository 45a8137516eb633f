package io.github.distributedpermit.aop;

import io.github.distributedpermit.aop.async.HoldStrategy;
import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A limited method of a bean, looked at once.
 *
 * @param method as the bean's class has it
 * @param operations its permits, in the order of the annotations
 * @param interruptible whether it declares that it may be interrupted
 * @param leftOpen whether it may return what ends later than itself, without declaring it
 * @param strategy holds its permits if its work outlives the call; {@code null} if the method is done when it returns
 */
record LimitedMethod(
        Method method,
        List<PermitOperation> operations,
        boolean interruptible,
        boolean leftOpen,
        @Nullable HoldStrategy strategy) {

    LimitedMethod(Method method, Class<?> type, List<PermitOperation> operations, @Nullable HoldStrategy strategy) {
        this(method, operations, declaresInterruption(method), AsyncReturnTypes.isLeftOpen(method, type), strategy);
    }

    /** The same method with other operations. */
    LimitedMethod with(List<PermitOperation> others) {
        return new LimitedMethod(method, others, interruptible, leftOpen, strategy);
    }

    /** For messages. */
    String description() {
        return method.getDeclaringClass().getName() + "." + DeclaredPermit.signature(method);
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
