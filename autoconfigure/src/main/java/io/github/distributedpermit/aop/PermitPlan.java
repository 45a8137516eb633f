package io.github.distributedpermit.aop;

import io.github.distributedpermit.AllOrNothing;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What one call of a limited method asks for. Several annotations may have the same key in it, and make one request then. */
final class PermitPlan {

    private final List<PermitOperation> operations;

    /** What each operation asks for. */
    private final List<PermitRequest> asked;

    /** One for each key, in the order to take them. */
    private final List<PermitRequest> requests;

    PermitPlan(LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        operations = limited.operations();
        asked = new ArrayList<>(operations.size());
        for (PermitOperation operation : operations) {
            asked.add(operation.request(target, limited.method(), arguments));
        }
        if (asked.size() == 1) { // as most methods have
            requests = asked;
        } else {
            requests = AllOrNothing.inOrder(asked, this::isLiteral);
            requests.forEach(this::checkSum);
        }
    }

    List<PermitRequest> requests() {
        return requests;
    }

    /** Whether the key is the same for all calls of the method. */
    private boolean isLiteral(PermitRequest request) {
        return operationsOf(request)
                .anyMatch(operation -> operation.definition().key() != null);
    }

    private Stream<PermitOperation> operationsOf(PermitRequest request) {
        return IntStream.range(0, asked.size())
                .filter(i -> asked.get(i).key().equals(request.key()))
                .mapToObj(operations::get);
    }

    /** The operation that is named in messages about a request. */
    PermitOperation first(PermitRequest request) {
        return operations.size() == 1
                ? operations.get(0)
                : operationsOf(request).findFirst().orElseThrow();
    }

    private void checkSum(PermitRequest request) {
        PermitDefinition definition = first(request).definition();
        Integer limit = definition.limit();
        if (limit != null && request.permits() > limit && operationsOf(request).count() > 1) {
            throw new IllegalArgumentException(
                    ("%s: permits %s have the same key in this call and ask for %d permits together, but the limit"
                                    + " is %d. Set reentrant = true on one of them to take the larger number only, or raise"
                                    + " the limit")
                            .formatted(
                                    definition.origin(),
                                    operationsOf(request)
                                            .map(operation ->
                                                    "'" + operation.definition().name() + "'")
                                            .collect(Collectors.joining(" and ")),
                                    request.permits(),
                                    limit));
        }
    }

    /** The permit as the call holds it: for the longest minimum time. */
    Permit held(PermitRequest request, Permit permit) {
        return operations.size() == 1
                ? operations.get(0).held(permit)
                : operationsOf(request)
                        .max(Comparator.comparing(
                                operation -> operation.definition().holdAtLeast()))
                        .orElseThrow()
                        .held(permit);
    }

    boolean interruptsOnLoss(PermitRequest request) {
        return operationsOf(request).anyMatch(PermitOperation::interruptOnLoss);
    }

    /** What answers a call that did not get this permit for this reason; {@code null} for the exception. */
    @Nullable
    RejectedAnswer answer(PermitRequest request, Throwable failure) {
        return operationsOf(request)
                .map(operation -> operation.answerTo(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
