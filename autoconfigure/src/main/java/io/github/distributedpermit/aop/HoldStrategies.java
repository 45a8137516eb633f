package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.AsyncReturnTypes.hasName;

import io.github.distributedpermit.aop.async.AsyncMethodHold;
import io.github.distributedpermit.aop.async.CallableHold;
import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.FutureHold;
import io.github.distributedpermit.aop.async.HoldStrategy;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;

/**
 * Chooses how long the permits of a method are held, by the type that it declares to return. Refuses types whose work
 * outlives the call and can't be observed. Thread-safe.
 */
final class HoldStrategies {

    private static final Log log = LogFactory.getLog(HoldStrategies.class);

    private static final String IN_CODE = "Hold the permit in code: take it with acquireAsync of the bean Permits and"
            + " release it when the work has ended";

    private final ContextCapture contexts;

    HoldStrategies(ContextCapture contexts) {
        this.contexts = contexts;
    }

    /** The strategy for a method; {@code null} if the method is done when it returns. */
    @Nullable
    HoldStrategy of(Method method, Class<?> type) {
        HoldStrategy chosen = choose(method, type);
        warnOfContentReadLater(method, type, chosen);
        if (chosen == null) {
            warnOfAnswerByCallback(method, type);
        }
        return chosen;
    }

    /** Such a method is not refused, because it may have answered when it returns. */
    private static void warnOfAnswerByCallback(Method method, Class<?> type) {
        AsyncReturnTypes.callback(method)
                .ifPresent(callback -> log.warn(
                        ("%s.%s is limited by @DistributedPermit and may answer through its parameter of type %s after it"
                                        + " has returned: its permit is released when the method returns. If the answer comes"
                                        + " later, hold the permit in code: take it with acquireAsync of the bean Permits and"
                                        + " release it with the last answer, or limit a method that returns a future or a Mono")
                                .formatted(
                                        type.getName(), DeclaredPermit.signature(method), callback.getSimpleName())));
    }

    private @Nullable HoldStrategy choose(Method method, Class<?> type) {
        ResolvableType returned = ResolvableType.forMethodReturnType(method, type);
        Class<?> declared = returned.toClass();
        if (SuspendingFunctions.isSuspending(method)) {
            return ofSuspending(method, type);
        }
        if (isFuture(declared)) {
            return ofFuture(method, type, returned);
        }
        if (AsyncReturnTypes.isAsyncMethod(method, type) && declared == void.class) {
            return null; // the advice runs within @Async, on the thread of the work
        }
        if (BaseStream.class.isAssignableFrom(declared)) {
            throw refusal(
                    method,
                    type,
                    "it returns %s, which is read after the method has returned".formatted(declared.getSimpleName()),
                    "Return a collection, or a Flux");
        }
        if (Callable.class.isAssignableFrom(declared)) {
            checkExact(method, type, declared, Callable.class);
            checkNotNested(method, type, returned);
            return new CallableHold();
        }
        HoldStrategy ofWeb = WebHolds.of(method, type, returned, contexts);
        if (ofWeb != null) {
            return ofWeb;
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(declared);
        if (adapter != null) {
            checkExact(method, type, declared, adapter.getReactiveType());
            checkNotNested(method, type, returned);
            return ReactiveHolds.of(adapter, contexts);
        }
        if (AsyncReturnTypes.endsLater(declared)) {
            throw refusal(
                    method,
                    type,
                    "it returns %s, which ends later than the method and cannot be observed"
                            .formatted(declared.getSimpleName()),
                    IN_CODE);
        }
        warnOfValuesInside(method, type, returned);
        return null;
    }

    private static void warnOfValuesInside(Method method, Class<?> type, ResolvableType returned) {
        if (AsyncReturnTypes.containsLater(returned)) {
            log.warn(
                    ("%s.%s is limited by @DistributedPermit and returns %s: its permit is released when the method returns,"
                                    + " not when what is inside has ended. " + IN_CODE)
                            .formatted(type.getName(), DeclaredPermit.signature(method), returned));
        }
    }

    /** Such a type is not refused, because all of the work may be done when the method returns it. */
    private static void warnOfContentReadLater(Method method, Class<?> type, @Nullable HoldStrategy chosen) {
        ResolvableType returned = SuspendingFunctions.isSuspending(method)
                ? resultOfSuspending(method, type)
                : ResolvableType.forMethodReturnType(method, type);
        Class<?> content = AsyncReturnTypes.contentReadLater(returned);
        if (content != null) {
            log.warn(
                    ("%s.%s is limited by @DistributedPermit and returns %s: its permit is released when %s, before the"
                                    + " content of the %s is read or written. If that is part of the work, return the content"
                                    + " itself, or hold the permit longer. "
                                    + IN_CODE)
                            .formatted(
                                    type.getName(),
                                    DeclaredPermit.signature(method),
                                    returned,
                                    chosen == null ? "the method returns" : "that has ended",
                                    content.getSimpleName()));
        }
    }

    private static ResolvableType resultOfSuspending(Method method, Class<?> type) {
        return ResolvableType.forMethodParameter(new MethodParameter(method, -1).withContainingClass(type));
    }

    private HoldStrategy ofSuspending(Method method, Class<?> type) {
        if (!SuspendingFunctions.SUPPORTED) {
            throw refusal(
                    method,
                    type,
                    "it is a suspending function, which Spring's proxies call correctly only with kotlin-reflect and"
                            + " kotlinx-coroutines-reactor on the class path",
                    "Add both of them");
        }
        ResolvableType returned = resultOfSuspending(method, type);
        Class<?> declared = returned.toClass();
        boolean flow = declared.getName().equals("kotlinx.coroutines.flow.Flow");
        if (flow) {
            checkNotNested(method, type, returned);
        } else if (AsyncReturnTypes.endsLater(declared)) {
            throw refusal(
                    method,
                    type,
                    "it suspends and returns %s, which ends later than the function"
                            .formatted(declared.getSimpleName()),
                    "Return the value itself, or a %s from a function that does not suspend"
                            .formatted(declared.getSimpleName()));
        } else {
            warnOfValuesInside(method, type, returned);
        }
        return ReactiveHolds.ofSuspending(flow, contexts);
    }

    private HoldStrategy ofFuture(Method method, Class<?> type, ResolvableType returned) {
        Class<?> declared = returned.toClass();
        if (AsyncReturnTypes.isAsyncMethod(method, type)) {
            return new AsyncMethodHold();
        }
        if (!declared.isAssignableFrom(CompletableFuture.class)) {
            throw refusal(
                    method,
                    type,
                    "its caller would have to get another object than the %s that the method returns"
                            .formatted(declared.getSimpleName()),
                    "Declare CompletableFuture, CompletionStage or Future");
        }
        checkNotNested(method, type, returned);
        return new FutureHold(contexts);
    }

    private static boolean isFuture(Class<?> type) {
        return CompletionStage.class.isAssignableFrom(type)
                || Future.class.isAssignableFrom(type) && !hasName(type, "kotlinx.coroutines.Job");
    }

    static void checkExact(Method method, Class<?> type, Class<?> declared, Class<?> supported) {
        if (!declared.isAssignableFrom(supported)) {
            throw refusal(
                    method,
                    type,
                    "its caller would have to get another object than the %s that the method returns"
                            .formatted(declared.getSimpleName()),
                    "Declare " + supported.getSimpleName());
        }
    }

    static void checkNotNested(Method method, Class<?> type, ResolvableType returned) {
        if (AsyncReturnTypes.containsLater(returned)) {
            throw refusal(
                    method,
                    type,
                    "it returns %s, where what is inside ends later than what is around it".formatted(returned),
                    "Annotate the method that makes what is inside");
        }
    }

    static InvalidPermitException refusal(Method method, Class<?> type, String problem, String remedy) {
        return new InvalidPermitException(
                "@DistributedPermit cannot hold a permit for the work of %s in %s, because %s"
                        .formatted(DeclaredPermit.signature(method), type.getName(), problem),
                remedy
                        + ". If the annotation of a type should not apply to this method, put @DistributedPermit.Exempt on"
                        + " the method");
    }
}
