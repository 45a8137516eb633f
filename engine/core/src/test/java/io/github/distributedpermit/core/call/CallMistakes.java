package io.github.distributedpermit.core.call;

import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.core.key.Outcome;
import io.github.distributedpermit.core.key.PermitName;
import io.github.distributedpermit.core.key.Waiter;
import java.util.concurrent.CompletableFuture;
import net.bytebuddy.asm.Advice.Argument;
import net.bytebuddy.asm.Advice.FieldValue;
import net.bytebuddy.asm.Advice.OnMethodEnter;
import net.bytebuddy.asm.Advice.OnNonDefaultValue;
import net.bytebuddy.asm.Advice.This;

/** The wrong pieces of code that {@code Mutant} puts into the classes of this package. They run inside those classes. */
@SuppressWarnings("UnusedVariable")
public final class CallMistakes {

    private CallMistakes() {}

    /** {@code FutureCall.end}: a permit that comes after the cancel belongs to no call. */
    public static final class CancelLeaks {
        @OnMethodEnter(skipOn = OnNonDefaultValue.class)
        static boolean enter(
                @Argument(0) Outcome outcome,
                @This CompletableFuture<Permit> call,
                @FieldValue("outcomes") Outcomes outcomes,
                @FieldValue("permit") PermitName permit,
                @FieldValue("request") PermitRequest request,
                @FieldValue("waiter") Waiter waiter) {
            endWithoutReturn(outcome, call, outcomes, permit, request, waiter);
            return true;
        }
    }

    static void endWithoutReturn(
            Outcome outcome,
            CompletableFuture<Permit> call,
            Outcomes outcomes,
            PermitName permit,
            PermitRequest request,
            Waiter waiter) {
        try {
            call.complete(outcomes.permit(permit, request, waiter, outcome));
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }
}
