package io.github.distributedpermit.aop;

import static io.github.distributedpermit.aop.AsyncReturnTypes.hasName;

import io.github.distributedpermit.aop.async.ContextCapture;
import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.mvc.EntityPublisherHold;
import io.github.distributedpermit.aop.mvc.RequestHold;
import io.github.distributedpermit.aop.mvc.StreamingHold;
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
    static HoldStrategy of(ReturnedType returned, ContextCapture contexts) {
        Class<?> declared = returned.declared();
        if (hasName(declared, STREAMING)) {
            return streaming(returned);
        }
        if (hasName(declared, OF_REQUESTS)) {
            returned.checkNotNested();
            return new RequestHold();
        }
        return AsyncReturnTypes.isWebAnswer(declared) ? ofAnswer(returned, contexts) : null;
    }

    private static @Nullable HoldStrategy ofAnswer(ReturnedType returned, ContextCapture contexts) {
        ResolvableType[] bodies = returned.value().getGenerics();
        if (Stream.of(bodies).noneMatch(each -> AsyncReturnTypes.endsLater(each.toClass()))) {
            return null;
        }
        ReturnedType body = returned.inside(bodies[0]);
        Class<?> declared = body.declared();
        boolean entity = hasName(returned.declared(), "org.springframework.http.ResponseEntity");
        if (entity && hasName(declared, EMITTER)) {
            return new RequestHold();
        }
        if (entity && hasName(declared, STREAMING)) {
            return streaming(body);
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(declared);
        if (adapter == null || CompletionStage.class.isAssignableFrom(declared)) {
            throw returned.refusal(
                    "it returns %s, and Spring does not wait for a %s within an answer"
                            .formatted(returned.value(), body.simpleName()),
                    "Declare %s<%s<...>>".formatted(body.simpleName(), returned.simpleName()));
        }
        return new EntityPublisherHold(body.published(adapter, contexts));
    }

    private static HoldStrategy streaming(ReturnedType returned) {
        returned.checkExact(returned.declared().getName().equals(STREAMING), "StreamingResponseBody");
        return new StreamingHold();
    }
}
