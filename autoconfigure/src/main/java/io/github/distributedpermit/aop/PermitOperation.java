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
 * @param declared as the annotation declares it
 * @param key makes the key of a call
 * @param ofEachCall makes what else each call has of its own; {@code null} if there is nothing
 * @param answer answers rejected calls instead of the exception
 * @param reentrant whether a call joins the permit of its caller
 * @param interruptOnLoss whether the thread of a call is interrupted when its permit is lost
 * @param minimumHolds keep a permit after a call that was too short
 * @param everyCall what each call asks for, if its key is the same for all
 */
record PermitOperation(
        PermitDefinition definition,
        PermitDefinition declared,
        KeyTemplate key,
        @Nullable CallAttributes ofEachCall,
        @Nullable RejectedAnswer answer,
        boolean reentrant,
        boolean interruptOnLoss,
        MinimumHolds minimumHolds,
        @Nullable PermitRequest everyCall) {

    PermitOperation(
            PermitDefinition definition,
            PermitDefinition declared,
            KeyTemplate key,
            @Nullable CallAttributes ofEachCall,
            @Nullable RejectedAnswer answer,
            boolean reentrant,
            boolean interruptOnLoss,
            MinimumHolds minimumHolds) {
        this(
                definition,
                declared,
                key,
                ofEachCall,
                answer,
                reentrant,
                interruptOnLoss,
                minimumHolds,
                definition.key() == null ? null : request(definition, definition.key(), reentrant));
    }

    private static PermitRequest request(PermitDefinition definition, String key, boolean reentrant) {
        PermitRequest request = definition.request(key);
        return reentrant ? request.toBuilder().reentrant().build() : request;
    }

    /** The same with another definition and another answer to rejected calls. */
    PermitOperation with(PermitDefinition changed, @Nullable RejectedAnswer otherAnswer) {
        return new PermitOperation(
                changed, declared, key, ofEachCall, otherAnswer, reentrant, interruptOnLoss, minimumHolds);
    }

    PermitRequest request(Object target, Method method, @Nullable Object[] arguments) {
        PermitRequest request =
                everyCall != null ? everyCall : request(definition, key.keyFor(target, method, arguments), reentrant);
        return ofEachCall == null ? request : ofEachCall.of(request, definition, target, method, arguments);
    }

    /** What answers a call that ended with this; {@code null} for the exception. */
    @Nullable
    RejectedAnswer answerTo(Throwable failure) {
        return answer != null && answer.answers(failure) ? answer : null;
    }

    /** The permit as this method holds it. */
    Permit held(Permit permit) {
        return definition.holdAtLeast().isZero() ? permit : minimumHolds.hold(permit, definition.holdAtLeast());
    }
}
