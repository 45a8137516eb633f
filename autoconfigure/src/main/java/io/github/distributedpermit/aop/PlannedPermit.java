package io.github.distributedpermit.aop;

import io.github.distributedpermit.PermitRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One permit that a call takes.
 *
 * @param operation what to do for it
 * @param request what the call asks for
 */
record PlannedPermit(PermitOperation operation, PermitRequest request) {

    /**
     * The permits of a call in the order to take them, one for each key. Keys that are made for each call come before literal ones:
     * such a key usually divides the calls that share a literal one, and a call that waits for its part must not hold permits that
     * all others need. Within both groups they are sorted by key, and not by name, since methods may give one key several names. The
     * order is the same in all methods and processes, so that no two calls wait for each other.
     */
    static Collection<PlannedPermit> of(LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        List<PermitOperation> operations = limited.operations();
        if (operations.size() == 1) {
            return List.of(of(operations.get(0), limited, target, arguments));
        }
        TreeMap<String, PlannedPermit> byKey = new TreeMap<>();
        for (PermitOperation operation : operations) {
            PlannedPermit planned = of(operation, limited, target, arguments);
            byKey.merge(planned.request.key(), planned, PlannedPermit::and);
        }
        List<PlannedPermit> inOrder = new ArrayList<>(byKey.values());
        inOrder.sort(Comparator.comparing(PlannedPermit::isLiteral));
        return inOrder;
    }

    /** Whether the key is the same for all calls of the method. */
    private boolean isLiteral() {
        return operation.definition().key() != null;
    }

    private static PlannedPermit of(
            PermitOperation operation, LimitedMethod limited, Object target, @Nullable Object[] arguments) {
        return new PlannedPermit(operation, operation.request(target, limited.method(), arguments));
    }

    /** One for both, which have the same key. */
    private PlannedPermit and(PlannedPermit other) {
        PermitRequest both = request.and(other.request);
        Integer limit = operation.definition().limit();
        if (limit != null && both.permits() > limit) {
            throw new IllegalArgumentException(
                    ("%s: permits '%s' and '%s' have the same key in this call and ask for %d permits together, but the limit"
                                    + " is %d. Set reentrant = true on one of them to take the larger number only, or raise"
                                    + " the limit")
                            .formatted(
                                    operation.definition().origin(),
                                    operation.definition().name(),
                                    other.operation.definition().name(),
                                    both.permits(),
                                    limit));
        }
        return new PlannedPermit(operation.and(other.operation), both);
    }
}
