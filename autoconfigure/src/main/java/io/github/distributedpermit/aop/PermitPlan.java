package io.github.distributedpermit.aop;

import io.github.distributedpermit.AllOrNothing;
import io.github.distributedpermit.Permit;
import io.github.distributedpermit.PermitDefinition;
import io.github.distributedpermit.PermitRequest;
import io.github.distributedpermit.Permits;
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

    /** Takes one permit for each key, also those that the others lie within. */
    private final AllOrNothing call;

    private final List<PermitRequest> requests;

    PermitPlan(Permits permits, LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        operations = limited.operations();
        asked = new ArrayList<>(operations.size());
        for (PermitOperation operation : operations) {
            asked.add(operation.request(target, limited.method(), arguments));
        }
        call = AllOrNothing.of(permits, asked);
        requests = call.requests();
        if (asked.size() > 1) {
            requests.forEach(this::checkSum);
        }
    }

    AllOrNothing call() {
        return call;
    }

    /** What the call takes, in that order. */
    List<PermitRequest> requests() {
        return requests;
    }

    /** The annotations that ask for this key; all of them, if none does and the call takes it since others lie within it. */
    private Stream<PermitOperation> operationsOf(PermitRequest request) {
        return definitionAdded(request) != null
                ? operations.stream()
                : IntStream.range(0, asked.size())
                        .filter(i -> asked.get(i).key().equals(request.key()))
                        .mapToObj(operations::get);
    }

    private @Nullable PermitDefinition definitionAdded(PermitRequest request) {
        return call.added(requests.indexOf(request));
    }

    /** Whether no annotation of the method asks for it. */
    boolean isAdded(PermitRequest request) {
        return definitionAdded(request) != null;
    }

    /** The definition that is named in messages about a request. */
    PermitDefinition definition(PermitRequest request) {
        PermitDefinition added = definitionAdded(request);
        if (added != null) {
            return added;
        }
        return operations.size() == 1 // as most methods have, so without a stream
                ? operations.get(0).definition()
                : operationsOf(request).findFirst().orElseThrow().definition();
    }

    private void checkSum(PermitRequest request) {
        PermitDefinition definition = definition(request);
        Integer limit = definition.limit();
        if (limit != null
                && request.permits() > limit
                && !isAdded(request)
                && operationsOf(request).count() > 1) {
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
