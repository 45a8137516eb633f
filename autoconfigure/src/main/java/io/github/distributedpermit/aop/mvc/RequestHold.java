package io.github.distributedpermit.aop.mvc;

import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.LimitedCall;
import io.github.distributedpermit.aop.async.PermitBundle;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.async.WebAsyncManager;
import org.springframework.web.context.request.async.WebAsyncUtils;

/**
 * For methods that return a {@code DeferredResult}, {@code WebAsyncTask}, {@code ResponseBodyEmitter} or
 * {@code SseEmitter}, also within a {@code ResponseEntity}. The thread of the request waits for the permits as it does for
 * any other method; they are held until Spring MVC reports the end of the asynchronous work of the request.
 */
public final class RequestHold implements HoldStrategy {

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        Object manager = request == null
                ? null
                : request.getAttribute(WebAsyncUtils.WEB_ASYNC_MANAGER_ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
        if (request == null || !(manager instanceof WebAsyncManager work)) {
            throw new IllegalStateException(call.description()
                    + " is limited by @DistributedPermit and returns an asynchronous type of Spring MVC,"
                    + " so it can be called only while Spring MVC handles a request: the end of that request's"
                    + " work returns the permit");
        }
        return call.whileHolding(
                held -> {
                    Object returned = call.proceed();
                    if (returned != null) {
                        hold(held.detach(), request, work);
                    }
                    return returned;
                },
                fallback -> fallback);
    }

    private static void hold(PermitBundle permits, RequestAttributes request, WebAsyncManager manager) {
        try {
            RequestPermits ends = new RequestPermits(permits);
            manager.registerDeferredResultInterceptor(ends, ends.ofDeferredResult());
            manager.registerCallableInterceptor(ends, ends.ofTask());
            request.registerDestructionCallback(
                    ends.name(),
                    () -> {
                        // the value was not what Spring MVC made of the request
                        if (!manager.isConcurrentHandlingStarted()) {
                            permits.release();
                        }
                    },
                    RequestAttributes.SCOPE_REQUEST);
        } catch (RuntimeException | Error e) {
            permits.release();
            throw e;
        }
    }
}
