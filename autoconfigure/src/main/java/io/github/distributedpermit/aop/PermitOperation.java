package io.github.distributedpermit.aop;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.aop.async.MinimumHolds;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * What to do for one permit of one method.
 *
 * @param definition as it takes effect, settings merged in
 * @param key makes the key of a call
 * @param answer answers rejected calls instead of the exception
 * @param interruptOnLoss whether the thread of a call is interrupted when its permit is lost
 * @param minimumHolds keep a permit after a call that was too short
 * @param everyCall what each call asks for, if its key is the same for all
 */
record PermitOperation(
        PermitDefinition definition,
        KeyTemplate key,
        @Nullable RejectedAnswer answer,
        boolean interruptOnLoss,
        MinimumHolds minimumHolds,
        @Nullable PermitRequest everyCall) {

    PermitOperation(
            PermitDefinition definition,
            KeyTemplate key,
            @Nullable RejectedAnswer answer,
            boolean interruptOnLoss,
            MinimumHolds minimumHolds) {
        this(
                definition,
                key,
                answer,
                interruptOnLoss,
                minimumHolds,
                definition.key() == null ? null : definition.request(definition.key()));
    }

    PermitRequest request(Object target, Method method, @Nullable Object[] arguments) {
        return everyCall != null ? everyCall : definition.request(key.keyFor(target, method, arguments));
    }

    /** The permit as this method holds it. */
    Permit held(Permit permit) {
        return definition.holdAtLeast().isZero() ? permit : minimumHolds.hold(permit, definition.holdAtLeast());
    }
}
