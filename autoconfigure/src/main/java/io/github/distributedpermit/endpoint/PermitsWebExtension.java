package io.github.distributedpermit.endpoint;

import io.github.distributedpermit.endpoint.PermitsView.Problem;
import java.security.Principal;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * What HTTP adds to {@link PermitsEndpoint}: who asks, and answers with their reason, which Spring Boot leaves out by default: 400 for a
 * bad request, 404 for an unknown name, 503 for a change that the store did not confirm. Thread-safe.
 */
@RegisterReflectionForBinding({PermitsView.Problem.class, PermitsView.KeysInStore.class})
@EndpointWebExtension(endpoint = PermitsEndpoint.class)
public class PermitsWebExtension {

    private static final int UNAVAILABLE = 503;

    private final PermitsEndpoint endpoint;

    /** Extends this endpoint. */
    public PermitsWebExtension(PermitsEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** As {@link PermitsEndpoint#permits}, or with a name as {@link #permit}: not each name can be part of a path. */
    @ReadOperation
    public WebEndpointResponse<Object> permits(
            @Nullable String name,
            @Nullable String key,
            @Nullable String most,
            @Nullable String stack,
            @Nullable String others) {
        return name == null ? new WebEndpointResponse<>(endpoint.permits()) : permit(name, key, most, stack, others);
    }

    /** As {@link PermitsEndpoint#permit}, or keys of the store that only other instances use. */
    @ReadOperation
    public WebEndpointResponse<Object> permit(
            @Selector String name,
            @Nullable String key,
            @Nullable String most,
            @Nullable String stack,
            @Nullable String others) {
        return answer(name, () -> {
            Integer keys = Order.number("others", others);
            return keys != null
                    ? endpoint.others(name, keys)
                    : endpoint.permit(name, key, Order.number("most", most), Order.call("stack", stack));
        });
    }

    /** As {@link PermitsEndpoint#change}. */
    @WriteOperation
    public WebEndpointResponse<Object> change(
            SecurityContext security,
            @Selector String name,
            @Nullable String key,
            @Nullable String limit,
            @Nullable String evict,
            @Nullable String call,
            @Nullable String reason,
            @Nullable String lasts,
            @Nullable String create) {
        return answer(
                name,
                () -> endpoint.change(name, Order.of(key, limit, evict, call, reason, lasts, create, user(security))));
    }

    /** As {@link PermitsEndpoint#lift}. */
    @DeleteOperation
    public WebEndpointResponse<Object> lift(
            SecurityContext security, @Selector String name, @Nullable String key, @Nullable String reason) {
        return answer(
                name, () -> endpoint.lift(name, Order.of(key, null, null, null, reason, null, null, user(security))));
    }

    /** As {@link #lift}, with the name of the permit in the query. */
    @DeleteOperation
    public WebEndpointResponse<Object> lifted(
            SecurityContext security, @Nullable String name, @Nullable String key, @Nullable String reason) {
        return name == null
                ? problem("Give the 'name' of the permit", WebEndpointResponse.STATUS_BAD_REQUEST)
                : lift(security, name, key, reason);
    }

    /** As {@link PermitsEndpoint#drain}, or with a name as {@link #change}. */
    @WriteOperation
    public WebEndpointResponse<Object> drain(
            SecurityContext security,
            @Nullable String name,
            @Nullable String key,
            @Nullable String limit,
            @Nullable String evict,
            @Nullable String call,
            @Nullable String reason,
            @Nullable String lasts,
            @Nullable String create,
            @Nullable String drain,
            @Nullable String member,
            @Nullable String pause) {
        boolean one = name != null && pause == null;
        Stream<@Nullable String> others = one
                ? Stream.of(drain, member)
                : Stream.of(key, limit, evict, call, create, pause == null ? null : member);
        if (others.anyMatch(
                Objects::nonNull)) { // what is left out of a request by mistake must not make it one for more
            return problem(
                    one
                            ? "'drain' and 'member' are for this instance, not for one permit: leave out 'name', or these"
                            : "A drain is for this instance, and a pause for all calls of a permit or of the application: leave out"
                                    + " 'key', 'limit', 'evict', 'call', 'create', and with 'pause' also 'member'."
                                    + " To pause one key, give its 'name', its 'key' and a 'limit' of 0",
                    WebEndpointResponse.STATUS_BAD_REQUEST);
        }
        if (name != null && pause == null) {
            return change(security, name, key, limit, evict, call, reason, lasts, create);
        }
        return answer("", () -> {
            Order order = Order.of(null, null, null, null, reason, lasts, null, user(security));
            return pause == null
                    ? endpoint.drain(drain, member, order)
                    : endpoint.pause(pause, drain, null, name, order);
        });
    }

    private static @Nullable String user(SecurityContext security) {
        Principal principal = security.getPrincipal();
        return principal == null ? null : principal.getName();
    }

    private static WebEndpointResponse<Object> answer(String name, Supplier<@Nullable Object> operation) {
        try {
            Object body = operation.get();
            return body == null
                    ? problem(
                            "No permit is named '" + name + "'; GET without a name lists all of them",
                            WebEndpointResponse.STATUS_NOT_FOUND)
                    : new WebEndpointResponse<>(body);
        } catch (InvalidEndpointRequestException e) {
            return problem(String.valueOf(e.getReason()), WebEndpointResponse.STATUS_BAD_REQUEST);
        } catch (PermitsEndpoint.StoreUnavailableException e) {
            return new WebEndpointResponse<>(e.problem(), UNAVAILABLE);
        }
    }

    private static WebEndpointResponse<Object> problem(String message, int status) {
        return new WebEndpointResponse<>(new Problem(message, null), status);
    }
}
