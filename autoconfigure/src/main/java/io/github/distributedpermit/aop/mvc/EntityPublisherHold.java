package io.github.distributedpermit.aop.mvc;

import io.github.distributedpermit.aop.async.HoldStrategy;
import io.github.distributedpermit.aop.async.LimitedCall;
import io.github.distributedpermit.aop.async.PublisherHold;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;

/**
 * For methods that return a {@code ResponseEntity} or {@code HttpEntity} with a reactive body. The method itself runs at
 * once and without a permit, since status and headers are needed first. Each subscription to the body takes permits.
 */
public final class EntityPublisherHold implements HoldStrategy {

    private final PublisherHold bodies;

    /** For bodies of this kind. */
    public EntityPublisherHold(PublisherHold bodies) {
        this.bodies = bodies;
    }

    @Override
    public boolean endsWithinTheCaller() {
        return true;
    }

    @Override
    public @Nullable Object invoke(LimitedCall call) throws Throwable {
        Object returned = call.proceed();
        if (!(returned instanceof HttpEntity<?> answer) || answer.getBody() == null) {
            return returned;
        }
        Object body = bodies.limited(call, answer::getBody, EntityPublisherHold::bodyOf);
        return answer instanceof ResponseEntity<?> response
                ? new ResponseEntity<>(body, response.getHeaders(), response.getStatusCode())
                : new HttpEntity<>(body, answer.getHeaders());
    }

    private static @Nullable Object bodyOf(@Nullable Object fallback) {
        return fallback instanceof HttpEntity<?> answer ? answer.getBody() : fallback;
    }
}
