package io.github.distributedpermit.endpoint;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** What HTTP adds to {@link PermitsControlEndpoint}, as {@link PermitsWebExtension} does. Thread-safe. */
@RegisterReflectionForBinding(PermitsView.Problem.class)
@EndpointWebExtension(endpoint = PermitsControlEndpoint.class)
public class PermitsControlWebExtension {

    private final PermitsControlEndpoint endpoint;

    /** Extends this endpoint. */
    public PermitsControlWebExtension(PermitsControlEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** As {@link PermitsEndpoint#permit}. */
    @ReadOperation
    public WebEndpointResponse<Object> permit(@Selector String name, @Nullable String key, @Nullable Integer most) {
        return PermitsWebExtension.answer(name, () -> endpoint.permit(name, key, most));
    }

    /** As {@link PermitsControlEndpoint#change}. */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            @Selector String name, @Nullable String key, @Nullable Integer limit, @Nullable String evict) {
        return PermitsWebExtension.answer(name, () -> endpoint.change(name, key, limit, evict));
    }

    /** As {@link PermitsControlEndpoint#lift}. */
    @DeleteOperation
    public WebEndpointResponse<Object> lift(@Selector String name, @Nullable String key) {
        return PermitsWebExtension.answer(name, () -> endpoint.lift(name, key));
    }
}
