package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.endpoint.PermitsView.Problem;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** What HTTP adds to {@link PermitsEndpoint}: an unknown name is answered with 404 and a message, and a change that the store did not confirm with 503. Thread-safe. */
@RegisterReflectionForBinding(PermitsView.Problem.class)
@EndpointWebExtension(endpoint = PermitsEndpoint.class)
public class PermitsWebExtension {

    private static final int UNAVAILABLE = 503;

    private final PermitsEndpoint endpoint;

    /** Extends this endpoint. */
    public PermitsWebExtension(PermitsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** As {@link PermitsEndpoint#permit}. */
    @ReadOperation
    public WebEndpointResponse<Object> permit(@Selector String name, @Nullable String key, @Nullable Integer most) {
        return answer(name, () -> endpoint.permit(name, key, most));
    }

    /** As {@link PermitsEndpoint#change}. */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            @Selector String name, @Nullable String key, @Nullable Integer limit, @Nullable String evict) {
        return answer(name, () -> endpoint.change(name, key, limit, evict));
    }

    /** As {@link PermitsEndpoint#lift}. */
    @DeleteOperation
    public WebEndpointResponse<Object> lift(@Selector String name, @Nullable String key) {
        return answer(name, () -> endpoint.lift(name, key));
    }

    private static WebEndpointResponse<Object> answer(String name, Supplier<@Nullable Object> operation) {
        try {
            Object body = operation.get();
            return body == null
                    ? new WebEndpointResponse<>(
                            new Problem(
                                    "No permit is named '" + name + "'; GET without a name lists all of them", null),
                            WebEndpointResponse.STATUS_NOT_FOUND)
                    : new WebEndpointResponse<>(body);
        } catch (PermitsEndpoint.StoreUnavailableException e) {
            return new WebEndpointResponse<>(e.problem(), UNAVAILABLE);
        }
    }
}
