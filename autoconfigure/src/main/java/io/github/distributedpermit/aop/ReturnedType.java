package io.github.distributedpermit.aop;

import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.PublisherHold;
import java.lang.reflect.Method;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ResolvableType;

/**
 * What a limited method declares to return.
 *
 * @param method as the bean's class has it
 * @param type the bean's class
 * @param value of a suspending function of Kotlin its result
 */
record ReturnedType(Method method, Class<?> type, ResolvableType value) {

    private static final Log log = LogFactory.getLog(ReturnedType.class);

    /** What is to be done where the library cannot see the end of the work. */
    static final String IN_CODE =
            "Hold the permit in code: take it with acquireAsync of the bean Permits and release it when"
                    + " the work has ended";

    static ReturnedType of(Method method, Class<?> type) {
        return new ReturnedType(
                method,
                type,
                SuspendingFunctions.isSuspending(method)
                        ? ResolvableType.forMethodParameter(new MethodParameter(method, -1).withContainingClass(type))
                        : ResolvableType.forMethodReturnType(method, type));
    }

    Class<?> declared() {
        return value.toClass();
    }

    String simpleName() {
        return declared().getSimpleName();
    }

    /** What is in the returned value, such as the body of an answer. */
    ReturnedType inside(ResolvableType content) {
        return new ReturnedType(method, type, content);
    }

    /** Refuses a subtype of what the library returns in its place. */
    void checkExact(boolean exact, String supported) {
        if (!exact) {
            throw refusal(
                    "its caller would have to get another object than the %s that the method returns"
                            .formatted(simpleName()),
                    "Declare " + supported);
        }
    }

    /** The strategy for a reactive type. */
    PublisherHold published(ReactiveAdapter adapter, ContextCapture contexts) {
        Class<?> supported = adapter.getReactiveType();
        checkExact(declared().isAssignableFrom(supported), supported.getSimpleName());
        checkNotNested();
        return new PublisherHold(adapter, contexts);
    }

    void checkNotNested() {
        if (AsyncReturnTypes.containsLater(value)) {
            throw refusal(
                    "it returns %s, where what is inside ends later than what is around it".formatted(value),
                    "Annotate the method that makes what is inside");
        }
    }

    void warnOfValuesInside() {
        if (AsyncReturnTypes.containsLater(value)) {
            warn("returns %s: its permit is released when the method returns, not when what is inside has ended. %s"
                    .formatted(value, IN_CODE));
        }
    }

    void warn(String problem) {
        log.warn("%s.%s is limited by @DistributedPermit and %s"
                .formatted(type.getName(), DeclaredPermit.signature(method), problem));
    }

    InvalidPermitException refusal(String problem, String remedy) {
        return new InvalidPermitException(
                "@DistributedPermit cannot hold a permit for the work of %s in %s, because %s"
                        .formatted(DeclaredPermit.signature(method), type.getName(), problem),
                remedy
                        + ". If the annotation of a type should not apply to this method, put @DistributedPermit.Exempt on"
                        + " the method");
    }
}
