package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.AsyncReturnTypes.hasName;

import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.PublisherHold;
import io.github.distributedpermit.aop.mvc.EntityPublisherHold;
import io.github.distributedpermit.aop.mvc.RequestHold;
import io.github.distributedpermit.aop.mvc.StreamingHold;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;

/** The strategies for types of Spring's web modules, recognised by name, since an application may not have them. */
final class WebHolds {

    private static final String STREAMING =
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody";

    private static final String EMITTER = "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter";

    private static final Set<String> OF_REQUESTS = Set.of(
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            EMITTER);

    private WebHolds() {}

    /** The strategy for a type of Spring's web modules; {@code null} for others. */
    @Nullable
    static HoldStrategy of(Method method, Class<?> type, ResolvableType returned, ContextCapture contexts) {
        Class<?> declared = returned.toClass();
        if (hasName(declared, STREAMING)) {
            checkStreaming(method, type, declared);
            return new StreamingHold();
        }
        if (hasName(declared, OF_REQUESTS)) {
            HoldStrategies.checkNotNested(method, type, returned);
            return new RequestHold();
        }
        return AsyncReturnTypes.isWebAnswer(declared) ? ofAnswer(method, type, returned, contexts) : null;
    }

    private static @Nullable HoldStrategy ofAnswer(
            Method method, Class<?> type, ResolvableType returned, ContextCapture contexts) {
        ResolvableType[] bodies = returned.getGenerics();
        if (Stream.of(bodies).noneMatch(each -> AsyncReturnTypes.endsLater(each.toClass()))) {
            return null;
        }
        ResolvableType body = bodies[0];
        Class<?> declared = body.toClass();
        boolean entity = hasName(returned.toClass(), "org.springframework.http.ResponseEntity");
        if (entity && hasName(declared, EMITTER)) {
            return new RequestHold();
        }
        if (entity && hasName(declared, STREAMING)) {
            checkStreaming(method, type, declared);
            return new StreamingHold();
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(declared);
        boolean future = CompletionStage.class.isAssignableFrom(declared);
        if (adapter == null || future) {
            String name = declared.getSimpleName();
            throw HoldStrategies.refusal(
                    method,
                    type,
                    "it returns %s, and Spring does not wait for a %s within an answer".formatted(returned, name),
                    "Declare %s<%s<...>>".formatted(name, returned.toClass().getSimpleName()));
        }
        HoldStrategies.checkExact(method, type, declared, adapter.getReactiveType());
        HoldStrategies.checkNotNested(method, type, body);
        return new EntityPublisherHold(new PublisherHold(adapter, contexts));
    }

    private static void checkStreaming(Method method, Class<?> type, Class<?> declared) {
        if (!declared.getName().equals(STREAMING)) {
            throw HoldStrategies.refusal(
                    method,
                    type,
                    "its caller would have to get another object than the %s that the method returns"
                            .formatted(declared.getSimpleName()),
                    "Declare StreamingResponseBody");
        }
    }
}
