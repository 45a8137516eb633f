package io.github.distributedpermit.aop;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamSource;

/** Recognises types whose values stand for work that may go on after a method has returned them or received them. */
final class AsyncReturnTypes {

    private static final List<Class<?>> TYPES =
            List.of(CompletionStage.class, Future.class, Flow.Publisher.class, Callable.class, BaseStream.class);

    /** Of libraries that need not be there. */
    private static final Set<String> TYPE_NAMES = Set.of(
            "org.reactivestreams.Publisher",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Job",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /** Their body may be one of the types above. */
    private static final String WEB_ANSWER = "org.springframework.http.HttpEntity";

    /**
     * So deep are arguments of types looked at, such as those of {@code Mono<ResponseEntity<Optional<Resource>>>}. A type such
     * as {@code Enum<E extends Enum<E>>} has arguments without end.
     */
    private static final int DEEPEST = 5;

    /** Answers of functional endpoints, of libraries that need not be there. Spring writes their body after the method. */
    private static final Set<String> ANSWER_NAMES = Set.of(
            "org.springframework.web.servlet.function.ServerResponse",
            "org.springframework.web.reactive.function.server.ServerResponse");

    private static final List<String> ANNOTATION_NAMES = List.of(
            "org.springframework.scheduling.annotation.Async",
            "jakarta.ejb.Asynchronous",
            "jakarta.enterprise.concurrent.Asynchronous");

    /** Through these a method answers that may have returned before, of libraries that need not be there. */
    private static final Set<String> CALLBACK_NAMES = Set.of(
            "io.grpc.stub.StreamObserver",
            "org.reactivestreams.Subscriber",
            "java.util.concurrent.Flow$Subscriber",
            "java.nio.channels.CompletionHandler",
            "reactor.core.publisher.MonoSink",
            "reactor.core.publisher.FluxSink",
            "com.google.common.util.concurrent.FutureCallback",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "jakarta.servlet.AsyncContext",
            "jakarta.ws.rs.container.AsyncResponse");

    private AsyncReturnTypes() {}

    /** The type of a parameter through which the method may answer after it has returned. */
    static Optional<Class<?>> callback(Method method) {
        return Stream.<Class<?>>of(method.getParameterTypes())
                .filter(parameter -> hasName(parameter, CALLBACK_NAMES))
                .findFirst();
    }

    /** Whether Spring runs the method on another thread. */
    static boolean isAsyncMethod(Method method, Class<?> type) {
        return isAsynchronous(method) || isAsynchronous(type) || isAsynchronous(method.getDeclaringClass());
    }

    /** Whether the type that a method declares is wide enough for values that end later. */
    static boolean isLeftOpen(Method method, Class<?> type) {
        return isLeftOpen(ResolvableType.forMethodReturnType(method, type));
    }

    private static boolean isLeftOpen(ResolvableType returned) {
        Class<?> type = returned.toClass();
        if (isWebAnswer(type)) {
            ResolvableType[] bodies = returned.getGenerics();
            return bodies.length == 0 || Stream.of(bodies).anyMatch(AsyncReturnTypes::isLeftOpen);
        }
        return TYPES.stream().anyMatch(type::isAssignableFrom);
    }

    /** Whether values of this class end later. */
    static boolean endsLater(Class<?> type) {
        return TYPES.stream().anyMatch(late -> late.isAssignableFrom(type))
                || hasName(type, TYPE_NAMES)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    static boolean isWebAnswer(Class<?> type) {
        return hasName(type, WEB_ANSWER);
    }

    private static boolean isAsynchronous(AnnotatedElement element) {
        MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return ANNOTATION_NAMES.stream().anyMatch(annotations::isPresent);
    }

    /** Whether values of a type argument end later. */
    static boolean containsLater(ResolvableType type) {
        return arguments(type, DEEPEST).anyMatch(argument -> endsLater(argument.toClass()));
    }

    /** The type, or the first of its arguments, whose content is read or written after the method. */
    static @Nullable Class<?> contentReadLater(ResolvableType type) {
        return Stream.concat(Stream.of(type), arguments(type, DEEPEST))
                .<Class<?>>map(ResolvableType::toClass)
                .filter(AsyncReturnTypes::isContent)
                .findFirst()
                .orElse(null);
    }

    /** The arguments of a type, and theirs. */
    private static Stream<ResolvableType> arguments(ResolvableType type, int depth) {
        return depth == 0
                ? Stream.empty()
                : Stream.of(type.getGenerics())
                        .flatMap(argument -> Stream.concat(Stream.of(argument), arguments(argument, depth - 1)));
    }

    /** A stream or resource that has its content in memory needs nothing that the permit protects. */
    private static boolean isContent(Class<?> type) {
        return InputStream.class.isAssignableFrom(type) && !ByteArrayInputStream.class.isAssignableFrom(type)
                || InputStreamSource.class.isAssignableFrom(type) && !ByteArrayResource.class.isAssignableFrom(type)
                || hasName(type, ANSWER_NAMES);
    }

    static boolean hasName(Class<?> type, String... names) {
        return hasName(type, Set.of(names));
    }

    /** Whether a class or one of its super types has one of the names. */
    static boolean hasName(Class<?> type, Set<String> names) {
        if (names.contains(type.getName())) {
            return true;
        }
        Class<?> parent = type.getSuperclass();
        return (parent != null && hasName(parent, names))
                || Stream.of(type.getInterfaces()).anyMatch(each -> hasName(each, names));
    }
}
