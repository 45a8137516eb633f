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
 * @param calledBy the method, for operators
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
        String calledBy,
        @Nullable PermitRequest everyCall) {

    PermitOperation(
            PermitDefinition definition,
            PermitDefinition declared,
            KeyTemplate key,
            @Nullable CallAttributes ofEachCall,
            @Nullable RejectedAnswer answer,
            boolean reentrant,
            boolean interruptOnLoss,
            MinimumHolds minimumHolds,
            String calledBy) {
        this(
                definition,
                declared,
                key,
                ofEachCall,
                answer,
                reentrant,
                interruptOnLoss,
                minimumHolds,
                calledBy,
                definition.key() == null ? null : request(definition, definition.key(), reentrant, calledBy));
    }

    private static PermitRequest request(PermitDefinition definition, String key, boolean reentrant, String calledBy) {
        PermitRequest.Builder request = definition.requestBuilder(key).calledBy(calledBy);
        return reentrant ? request.reentrant().build() : request.build();
    }

    /** The same with another definition and another answer to rejected calls. */
    PermitOperation with(PermitDefinition changed, @Nullable RejectedAnswer otherAnswer) {
        return new PermitOperation(
                changed, declared, key, ofEachCall, otherAnswer, reentrant, interruptOnLoss, minimumHolds, calledBy);
    }

    PermitRequest request(Object target, Method method, @Nullable Object[] arguments) {
        PermitRequest request = everyCall != null
                ? everyCall
                : request(definition, key.keyFor(target, method, arguments), reentrant, calledBy);
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
