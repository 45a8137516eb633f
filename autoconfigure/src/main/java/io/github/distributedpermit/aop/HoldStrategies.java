package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.AsyncReturnTypes.hasName;

import io.github.distributedpermit.aop.async.AsyncMethodHold;
import io.github.distributedpermit.aop.async.CallableHold;
import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.FutureHold;
import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.ListenerHold;
import io.github.distributedpermit.aop.async.ListenerThreads;
import io.github.distributedpermit.aop.async.SuspendingHold;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Chooses how long the permits of a method are held, by the type that it declares to return. Refuses types whose work
 * outlives the call and can't be observed. Thread-safe.
 */
final class HoldStrategies {

    private static final String WITHOUT_PAUSE =
            "is called by no container that can pause, such as one with transactions, one whose consumer"
                    + " commits by itself (enable-auto-commit), or one that was registered after the start: it waits for its"
                    + " permits on the thread of its consumer, which loses its partitions after max.poll.interval.ms";
    private static final String WITHOUT_WAIT =
            "is called by no container that keeps its messages until there is a permit, such as one of JMS"
                    + " that acknowledges also those that fail or was registered after the start, or one of RabbitMQ whose factory is no bean:"
                    + " a message that gets no permit fails";

    private final ContextCapture contexts;
    private final ListenerThreads listeners;

    HoldStrategies(ContextCapture contexts, ListenerThreads listeners) {
        this.contexts = contexts;
        this.listeners = listeners;
    }

    /** The strategy for a method; {@code null} if the method is done when it returns. */
    @Nullable
    HoldStrategy of(Method method, Class<?> type) {
        ReturnedType returned = ReturnedType.of(method, type);
        HoldStrategy chosen = choose(returned);
        warnOfContentReadLater(returned, chosen == null ? "the method returns" : "that has ended");
        if (chosen == null) {
            warnOfAnswerByCallback(returned);
        }
        return chosen;
    }

    /** Such a method is not refused, because it may have answered when it returns. */
    private static void warnOfAnswerByCallback(ReturnedType returned) {
        AsyncReturnTypes.callback(returned.method())
                .ifPresent(callback -> returned.warn(
                        ("may answer through its parameter of type %s after it has returned: its permit is released when the"
                                        + " method returns. If the answer comes later, hold the permit in code: take it with"
                                        + " acquireAsync of the bean Permits and release it with the last answer, or limit a"
                                        + " method that returns a future or a Mono")
                                .formatted(callback.getSimpleName())));
    }

    /** Such a type is not refused, because all of the work may be done when the method returns it. */
    private static void warnOfContentReadLater(ReturnedType returned, String end) {
        Class<?> content = AsyncReturnTypes.contentReadLater(returned.value());
        if (content != null) {
            returned.warn(
                    ("returns %s: its permit is released when %s, before the content of the %s is read or written. If that is"
                                    + " part of the work, return the content itself, or hold the permit longer. %s")
                            .formatted(returned.value(), end, content.getSimpleName(), ReturnedType.IN_CODE));
        }
    }

    private @Nullable HoldStrategy choose(ReturnedType returned) {
        Class<?> declared = returned.declared();
        boolean async = AsyncReturnTypes.isAsyncMethod(returned.method(), returned.type());
        if (SuspendingFunctions.isSuspending(returned.method())) {
            return ofSuspending(returned);
        }
        if (isFuture(declared)) {
            return async ? new AsyncMethodHold() : ofFuture(returned);
        }
        if (async && declared == void.class) {
            return null; // the advice runs within @Async, on the thread of the work
        }
        if (BaseStream.class.isAssignableFrom(declared)) {
            throw returned.refusal(
                    "it returns %s, which is read after the method has returned".formatted(returned.simpleName()),
                    "Return a collection, or a Flux");
        }
        if (Callable.class.isAssignableFrom(declared)) {
            returned.checkExact(declared == Callable.class, "Callable");
            returned.checkNotNested();
            return new CallableHold();
        }
        HoldStrategy ofWeb = WebHolds.of(returned, contexts);
        if (ofWeb != null) {
            return ofWeb;
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(declared);
        if (adapter != null) {
            return returned.published(adapter, contexts);
        }
        if (AsyncReturnTypes.endsLater(declared)) {
            throw returned.refusal(
                    "it returns %s, which ends later than the method and cannot be observed"
                            .formatted(returned.simpleName()),
                    ReturnedType.IN_CODE);
        }
        returned.warnOfValuesInside();
        if (isListener(returned.method(), "org.springframework.kafka.annotation.KafkaListener")
                || isListener(returned.method(), "org.springframework.kafka.annotation.KafkaHandler")) {
            return new ListenerHold(listeners, WITHOUT_PAUSE);
        }
        if (isListener(returned.method(), "org.springframework.amqp.rabbit.annotation.RabbitListener")
                || isListener(returned.method(), "org.springframework.amqp.rabbit.annotation.RabbitHandler")
                || isListener(returned.method(), "org.springframework.jms.annotation.JmsListener")) {
            return new ListenerHold(listeners, WITHOUT_WAIT);
        }
        return null;
    }

    private static boolean isListener(Method method, String annotation) {
        return MergedAnnotations.from(method, MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
                .isPresent(annotation);
    }

    private HoldStrategy ofSuspending(ReturnedType returned) {
        if (!SuspendingFunctions.SUPPORTED) {
            throw returned.refusal(
                    "it is a suspending function, which Spring's proxies call correctly only with kotlin-reflect and"
                            + " kotlinx-coroutines-reactor on the class path",
                    "Add both of them");
        }
        boolean flow = returned.declared().getName().equals("kotlinx.coroutines.flow.Flow");
        if (flow) {
            returned.checkNotNested();
        } else if (AsyncReturnTypes.endsLater(returned.declared())) {
            throw returned.refusal(
                    "it suspends and returns %s, which ends later than the function".formatted(returned.simpleName()),
                    "Return the value itself, or a %s from a function that does not suspend"
                            .formatted(returned.simpleName()));
        } else {
            returned.warnOfValuesInside();
        }
        return new SuspendingHold(flow, contexts);
    }

    private HoldStrategy ofFuture(ReturnedType returned) {
        returned.checkExact(
                returned.declared().isAssignableFrom(CompletableFuture.class),
                "CompletableFuture, CompletionStage or Future");
        returned.checkNotNested();
        return new FutureHold(contexts);
    }

    private static boolean isFuture(Class<?> type) {
        return CompletionStage.class.isAssignableFrom(type)
                || Future.class.isAssignableFrom(type) && !hasName(type, "kotlinx.coroutines.Job");
    }
}
